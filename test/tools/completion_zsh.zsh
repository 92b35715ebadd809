# SPDX-License-Identifier: MIT
# completion_zsh.zsh FOLDER: an interactive zsh on a terminal of its own, with the completions of this folder, is sent
# what is typed, the key of completion, and the end of the line, which then shows what became of it.
zmodload zsh/zpty || exit 77
dir=$(mktemp -d)
trap 'rm -rf $dir' EXIT
print 'journal' >$dir/night.journal
print "fpath=(${(q)1} \$fpath)
PS1= PS2= RPS1=
autoload -Uz compinit && compinit -u -d $dir/dump
unset zle_bracketed_paste
unsetopt prompt_cr prompt_sp
for name in selastic selastic-run selastic-sim; do functions[\$name]='print -r -- \"<\$*>\"'; done
zstyle ':completion:*' matcher-list ''
print ready" >$dir/.zshrc

integer failures=0
# The terminal sends what is typed back as well, and sequences that move the cursor.
expect() {
    local line= all=
    while zpty -r shell line; do
        all+=$line
        [[ $line = *$1* ]] && return 0
        [[ $line = *'<'*'>'* ]] && break
    done
    print -r -- "FAIL: not $1 but ${(qqqq)all}"
    failures+=1
}

completes() {
    zpty -w -n shell "$1"$'\t\n'
    expect "$2"
}

export ZDOTDIR=$dir TERM=dumb
zpty shell zsh -d -i
expect ready
completes 'selastic gan' '<gantt>'
completes 'selastic gantt --sv' '<gantt --svg>'
completes 'selastic gantt --color al' '<gantt --color always>'
completes 'selastic gantt --color=ne' '<gantt --color=never>'
completes "selastic check $dir/ni" "<check $dir/night.journal>"
completes "selastic journal --file $dir/ni" "<journal --file $dir/night.journal>"
completes 'selastic-sim reproduce lin' '<reproduce lina>'
completes 'selastic-sim reproduce evolving --te' '<reproduce evolving --tests>'
completes 'selastic-run --stop-fir' '<--stop-first>'
completes "selastic-run --workers cat $dir/ni" "<--workers cat $dir/night.journal>"
zpty -d shell
exit $(( failures > 0 ))
