# SPDX-License-Identifier: Apache-2.0
# Completion of the rownorm command for bash.

_rownorm() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        words="normalize info diff isa bench --help --version"
    else
        case $previous in
        --op) words="rms layer l2" ;;
        --l2-eps) words="max add inside clamp" ;;
        --round) words="once before-weight" ;;
        --type | --out-type) words="f32 f16 bf16 f64" ;;
        --isa) words=$("${COMP_WORDS[0]}" isa 2>/dev/null | cut -d ' ' -f 1) ;;
        --eps | --axis | --partial | --partial-count | --weight-offset | --threads | --memory | --ulp | --seconds) return ;;
        *)
            if [[ $current == -* ]]; then
                case ${COMP_WORDS[1]} in
                normalize)
                    words="--output --weight --bias --residual --residual-out --type --out-type --op --eps --axis
                        --partial --partial-count --l2-eps --weight-offset --round --force --fsync --verify --json
                        --quiet --isa --threads --memory --help"
                    ;;
                info) words="--axis --type --json --plot --plot-out --force --help" ;;
                diff) words="--ulp --type --json --quiet --help" ;;
                isa) words="--help" ;;
                bench) words="--seconds --json --help" ;;
                esac
            fi
            ;;
        esac
    fi
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -F _rownorm rownorm
