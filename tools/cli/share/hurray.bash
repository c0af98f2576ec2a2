# bash completion of hurray; written by: hurray completion bash
_hurray() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="" word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$word" in -*) ;; *) command="$word"; break ;; esac
    done
    COMPREPLY=()
    if [[ -z "$command" ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'ls inspect cat dump stats verify convert diff report doctor completion man -h --help --version' -- "$current")
        return
    fi
    case "$command" in
    ls)
        case "$previous" in
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help --json -m --metadata --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    inspect)
        case "$previous" in
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help --json --bytes --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    cat|dump)
        case "$previous" in
        -f|--format) mapfile -t COMPREPLY < <(compgen -W 'text npy raw' -- "$current"); return ;;
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help -s --slice -f --format --stored --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    stats)
        case "$previous" in
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help --json --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    verify)
        case "$previous" in
        -l|--level) mapfile -t COMPREPLY < <(compgen -W 'buffers data descriptor' -- "$current"); return ;;
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help -l --level --json --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    convert)
        case "$previous" in
        --to) mapfile -t COMPREPLY < <(compgen -W 'hrry safetensors gguf npy npz stream' -- "$current"); return ;;
        --dequantize) mapfile -t COMPREPLY < <(compgen -W 'float16 bfloat16 float32 float64' -- "$current"); return ;;
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help --to --only --dequantize --layout --quantize --align --merge --compress --unsorted-index -v --verbose -q --quiet --json --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    diff)
        case "$previous" in
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help --rtol --atol --only --values-only --structure-only --json --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    report)
        case "$previous" in
        --as) mapfile -t COMPREPLY < <(compgen -W 'auto file stream descriptor' -- "$current"); return ;;
        --blocks) mapfile -t COMPREPLY < <(compgen -W 'raw float32 float16' -- "$current"); return ;;
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help -o --output --tensors --limit --sample --as --private-tags --no-map --blocks --permissive' -- "$current"); return; fi
        ;;
    doctor)
        case "$previous" in
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help --json' -- "$current"); return; fi
        ;;
    completion)
        case "$previous" in
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$current"); return; fi
        mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$current"); return
        ;;
    man)
        case "$previous" in
        *) ;;
        esac
        if [[ "$current" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$current"); return; fi
        ;;
    *) ;;
    esac
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -o filenames -F _hurray hurray
