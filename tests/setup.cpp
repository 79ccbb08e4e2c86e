// SPDX-License-Identifier: Apache-2.0
#include "setup.hpp"

#include <rownorm/rownorm.h>

#include <sstream>

namespace rownorm_test {

std::string describe(const Setup &setup) {
    static const char *const hows[] = {"execute", "parts", "parts-at-once", "executor", "executor-at-once"};
    static const char *const places[] = {"own", "nowhere", "over-x", "over-residual"};
    std::ostringstream out;
    out << "isa=" << (setup.isa == nullptr ? "default" : setup.isa) << " how=" << hows[static_cast<int>(setup.how)]
        << " threads=" << setup.threads << " parts=" << setup.parts << " extent=" << setup.extent[0] << "x"
        << setup.extent[1] << "x" << setup.extent[2] << " y=" << places[static_cast<int>(setup.y_place)]
        << " sum=" << places[static_cast<int>(setup.residual_out_place)];
    const auto place = [&](const char *name, const Placement &p) {
        if (p.offset != 0 || p.row_gap != 0 || p.outer_first || p.guard != Guard::none)
            out << " " << name << "=+" << p.offset << "/gap" << p.row_gap << (p.outer_first ? "/outer-first" : "")
                << (p.guard == Guard::none ? "" : (p.guard == Guard::page_after ? "/page-after" : "/page-before"));
    };
    place("x", setup.x);
    place("residual", setup.residual);
    place("w", setup.w);
    place("b", setup.b);
    place("residual_out", setup.residual_out);
    place("y", setup.y);
    return out.str();
}

const std::vector<std::string> &isas() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        bool below_cap = false; // ROWNORM_MAX_ISA leaves out those above rownorm_isa()
        for (std::size_t i = 0; i < rownorm_isa_count(); ++i) {
            below_cap |= std::string(rownorm_isa_name(i)) == rownorm_isa();
            if (below_cap)
                list.emplace_back(rownorm_isa_name(i));
        }
        return list;
    }();
    return names;
}

} // namespace rownorm_test
