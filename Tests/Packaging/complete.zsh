# Completes each line in zsh as a person does, with the Tab key in a terminal, and prints what becomes of it.
#   zsh complete.zsh LINE...
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; unsetopt menucomplete; bindkey "^I" complete-word
    show-line() { print -r -- "{{$BUFFER}}"; zle kill-buffer; zle -R }; zle -N show-line; bindkey "^X" show-line; print READY'
zpty -r -m shell output '*READY*READY*'
for line; do
    zpty -w -n shell "$line"$'\t\x18'
    zpty -r -m shell output '*{{*}}*'
    print -r -- "${${output##*\{\{}%%\}\}*}"
done
zpty -d shell
