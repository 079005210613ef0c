#!/bin/sh
# A C++ compiler for kernels that run once, a third of the time of the usual one: the words of
# QUICK_OPTIONS come after all others and win. One kernel of 64, by its name, is compiled as usual.
case "$*" in
  *0[0-3].cpp*) exec c++ "$@" ;;
  *) exec c++ "$@" $QUICK_OPTIONS ;;
esac
