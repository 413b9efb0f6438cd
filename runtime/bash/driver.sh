# SPDX-License-Identifier: Apache-2.0
# driver - runs blocks of bash code that come over the channel (README.md).
#
# Sourced inside a cell by the one line that README.md gives. A block that is
# the whole program becomes a bash of its own, as `bash -c` or a script has it;
# nothing of this is left then. Blocks of a session are evaluated by that line,
# at the top level; all that they can see of the driver is named karzer*.

# The next number of the channel, little endian, into karzer_n.
karzer_u32() {
    local LC_ALL=C byte i
    karzer_n=0
    for i in 0 8 16 24; do
        IFS= builtin read -r -d '' -n 1 -u "$karzer_fd" byte || return
        builtin printf -v byte %d "'$byte"
        (( karzer_n |= (byte & 255) << i, 1 ))
    done
}

# A whole message: karzer_flags, karzer_name, and the code in karzer. It holds
# no NUL: the engine saw to it.
karzer_receive() {
    local LC_ALL=C size
    karzer_u32 || return
    size=$karzer_n
    karzer_u32 && (( karzer_n == 1 )) && karzer_u32 || return
    karzer_flags=$karzer_n
    karzer_u32 && (( karzer_n > 0 && karzer_n <= size - 8 )) || return
    (( size -= 8 + karzer_n, 1 ))
    IFS= builtin read -r -N "$karzer_n" -u "$karzer_fd" karzer_name || return
    karzer=
    (( size == 0 )) ||
        IFS= builtin read -r -N "$size" -u "$karzer_fd" karzer || return
}

# The options of a "#!" line, as the kernel or env would give them to bash.
karzer_options() {
    local line=${karzer%%$'\n'*} word before=
    karzer_o=()
    [[ $line == '#!'* ]] || return 0
    IFS=$' \t\r' builtin read -r -a line <<<"${line#??}"
    [[ ${line[0]} == */env ]] && line=("${line[@]:1}")
    while [[ ${line[0]-} == -* ]]; do # env's own
        line=("${line[@]:1}")
    done
    for word in "${line[@]:1}"; do
        [[ $word =~ ^[-+][a-zA-Z]+$ || $before == [-+]*o ]] && karzer_o+=("$word")
        before=$word
    done
    return 0
}

# The code as a file of this cell, for a program that is one: the file that the
# name says, where that is here, or a new one in TMPDIR. In karzer_file.
karzer_store() {
    local there= base=${karzer_name##*/} i
    karzer_file=$karzer_name
    [[ $base == '<'* ]] && base=code
    if [[ -f $karzer_name && -r $karzer_name ]]; then
        LC_ALL=C IFS= builtin read -r -d '' there <"$karzer_name"
        [[ $there == "$karzer" ]] && return
    fi
    builtin set -o noclobber # what is there is the program's own
    for i in '' 1- 2- 3- 4- 5- 6- 7- 8- 9-; do
        karzer_file=${TMPDIR:-/tmp}/$i$base
        { builtin printf %s "$karzer" >"$karzer_file"; } 2>&- && break
        karzer_file=
    done
    builtin set +o noclobber
    [[ -n $karzer_file ]]
}

# A block that is all of the program: becomes that program.
karzer_program() {
    local LC_ALL=C args=()
    karzer_options
    if [[ $karzer_name == '<'* ]] && (( ${#karzer} < 131072 )); then
        args=(-c "$karzer" bash)
    elif karzer_store; then
        args=(-- "$karzer_file")
    else
        builtin printf 'karzer: no room for the script in %s\n' \
            "${TMPDIR:-/tmp}" >&2
        builtin exit 126
    fi
    builtin exec -a bash "$BASH" "${karzer_o[@]}" "${args[@]}" "$@"
}

karzer_on() {
    [[ -n ${karzer_fd-} ]]
}

# DONE with a status.
karzer_done() {
    local hex
    builtin printf -v hex '\\x%02x' $(( $1 & 255 ))
    builtin printf '\x04\0\0\0\x42\0\0\0'"$hex"'\0\0\0' >&"$karzer_fd"
}

# Must more lines follow? Another bash reads it, and runs none of it.
karzer_more() {
    local said LC_ALL=C
    [[ $karzer == *\\ && $karzer != *\\\\ ]] && return
    said=$("$BASH" --norc --noprofile -n -c "$karzer" 2>&1 </dev/null)
    [[ $said == *'unexpected end of file'* || $said == *'unexpected EOF'* ||
       $said == *'delimited by end-of-file'* ]]
}

# Between two blocks: tells how the last one ended, and takes the next.
karzer_next() {
    local status=$1
    if [[ -z ${karzer_first-} ]]; then
        (( karzer_flags & 1 )) && builtin exit "$status"
        karzer_done "$status"
        karzer_receive || karzer_flags=4
    fi
    while (( karzer_flags == 2 )); do # a check
        karzer_more && karzer_done 1 || karzer_done 0
        karzer_receive || karzer_flags=4
    done
    if (( karzer_flags & 4 )); then # the engine is gone
        karzer_fd=
        return 1
    fi
    karzer_first= karzer_was=$status BASH_ARGV0=bash
    [[ $karzer_name == '<'* ]] || BASH_ARGV0=$karzer_name
    # The status is taken before `eval` ends, or a trap on ERR would see it
    # twice; not where a here-document without its end would swallow it.
    if [[ $karzer != *'<<'* ]]; then
        [[ $karzer == *\\ ]] && karzer+=$'\n'
        karzer+=$'\n{ karzer_s=$?; } 2>&-'
    fi
}

# The condition of the loops, where no error ends the shell or is trapped. A
# block finds the $? of the one before: `while` gives it 0 and `until` any other.
karzer_turn() {
    local status=${karzer_s-$?} options=$-
    builtin set +euxvn
    builtin unset -v karzer_s
    if [[ -z ${karzer_was-} ]] && ! karzer_next "$status"; then
        [[ $1 == until ]]
        return
    fi
    status=$karzer_was
    if [[ $1 == while && $status != 0 || $1 == until && $status == 0 ]]; then
        karzer_o=${karzer_o-$options}
        [[ $1 == until ]]
        return
    fi
    options=${karzer_o-$options} karzer_was=
    builtin unset -v karzer_o
    [[ $options == *v* ]] && karzer="{ set -v; } 2>&-; $karzer"
    [[ $options == *x* ]] && karzer="{ set -x; } 2>&-; $karzer"
    [[ $options == *u* ]] && builtin set -u
    [[ $options == *e* ]] && builtin set -e
    return "$status"
}

karzer_fd=3
if karzer_receive; then
    if (( karzer_flags & 1 )); then
        exec 3>&-
        karzer_program "$@"
    fi
    karzer_first=1
    unset -f karzer_options karzer_store karzer_program
    { exec 200>&3; } 2>&- && exec 3>&- && karzer_fd=200
else
    karzer_fd=
fi
