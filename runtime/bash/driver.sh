# SPDX-License-Identifier: Apache-2.0
# driver - runs blocks of bash code that come over the channel (README.md).
#
# Sourced inside a cell by the one line that README.md gives. A block that is
# the whole program becomes a bash of its own, as `bash -c` or a script has it;
# nothing of this is left then. Blocks of a session are evaluated by that line,
# at the top level; all that they can see of the driver is named karzer*.

# The functions of a session run among the program's own names: theirs begin
# with karzer, locals too (no local hides what is readonly), and builtins are
# called as such.

# The next number of the channel, little endian, into karzer_n.
karzer_u32() {
    builtin local LC_ALL=C karzer_byte karzer_i
    karzer_n=0
    for karzer_i in 0 8 16 24; do
        IFS= builtin read -r -d '' -n 1 -u "$karzer_fd" karzer_byte ||
            builtin return
        builtin printf -v karzer_byte %d "'$karzer_byte"
        (( karzer_n |= (karzer_byte & 255) << karzer_i, 1 ))
    done
}

# A whole message: karzer_flags, karzer_name, and the code in karzer. It holds
# no NUL: the engine saw to it.
karzer_receive() {
    builtin local LC_ALL=C karzer_size
    karzer_u32 || builtin return
    karzer_size=$karzer_n
    karzer_u32 && (( karzer_n == 1 )) && karzer_u32 || builtin return
    karzer_flags=$karzer_n
    karzer_u32 && (( karzer_n > 0 && karzer_n <= karzer_size - 8 )) ||
        builtin return
    (( karzer_size -= 8 + karzer_n, 1 ))
    IFS= builtin read -r -N "$karzer_n" -u "$karzer_fd" karzer_name ||
        builtin return
    karzer=
    (( karzer_size == 0 )) ||
        IFS= builtin read -r -N "$karzer_size" -u "$karzer_fd" karzer
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
        { IFS= builtin read -r -d '' there <"$karzer_name"; } 2>&-
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
    builtin local karzer_hex
    builtin printf -v karzer_hex '\\x%02x' "$(( $1 & 255 ))"
    builtin printf '\x04\0\0\0\x42\0\0\0'"$karzer_hex"'\0\0\0' \
        >&"$karzer_fd"
}

# Must more lines follow? Another bash reads it, and runs none of it.
karzer_more() {
    builtin local LC_ALL=C karzer_said
    [[ $karzer == *\\ && $karzer != *\\\\ ]] && builtin return
    karzer_said=$("$BASH" --norc --noprofile -n -c "$karzer" 2>&1 </dev/null)
    [[ $karzer_said == *'unexpected end of file'* ||
       $karzer_said == *'unexpected EOF'* ||
       $karzer_said == *'delimited by end-of-file'* ]]
}

# Between two blocks: tells how the last one ended, and takes the next.
karzer_next() {
    builtin local karzer_status="$1"
    if [[ -z ${karzer_first-} ]]; then
        (( karzer_flags & 1 )) && builtin exit "$karzer_status"
        karzer_done "$karzer_status"
        karzer_receive || karzer_flags=4
    fi
    while (( karzer_flags == 2 )); do # a check
        karzer_more && karzer_done 1 || karzer_done 0
        karzer_receive || karzer_flags=4
    done
    if (( karzer_flags & 4 )); then # the engine is gone
        karzer_fd=
        builtin return 1
    fi
    karzer_first= karzer_was=$karzer_status BASH_ARGV0=bash
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
    builtin local karzer_status="${karzer_s-$?}" karzer_options="$-"
    builtin set +euxvn
    builtin unset -v karzer_s
    if [[ -z ${karzer_was-} ]] && ! karzer_next "$karzer_status"; then
        [[ $1 == until ]]
        builtin return
    fi
    karzer_status=$karzer_was
    if [[ $1 == while && $karzer_status != 0 ||
          $1 == until && $karzer_status == 0 ]]; then
        karzer_o=${karzer_o-$karzer_options}
        [[ $1 == until ]]
        builtin return
    fi
    karzer_options=${karzer_o-$karzer_options} karzer_was=
    builtin unset -v karzer_o
    [[ $karzer_options == *v* ]] && karzer="{ set -v; } 2>&-; $karzer"
    [[ $karzer_options == *x* ]] && karzer="{ set -x; } 2>&-; $karzer"
    [[ $karzer_options == *u* ]] && builtin set -u
    [[ $karzer_options == *e* ]] && builtin set -e
    builtin return "$karzer_status"
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
