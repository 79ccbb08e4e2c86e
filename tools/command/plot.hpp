// SPDX-License-Identifier: Apache-2.0
// Histograms on the terminal, and as pictures by tools/plot_info.py.
#pragma once

#include "row_stats.hpp"

namespace command {

/// Lines with a bar for each bin.
std::string terminal_plot(const histogram &h);

/// Fails unless the name says a kind of picture that is drawn.
void check_plot_name(const std::string &path);

/// Runs the script, which needs Python 3 with matplotlib, and writes what it draws. Throws failure.
void write_plot(const std::string &path, bool force, const std::string &title, const histogram &h);

} // namespace command
