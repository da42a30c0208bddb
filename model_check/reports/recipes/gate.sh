#!/bin/sh
# Ask one question of kcheck, and keep the answer in each form that a CI reads. Ends with kcheck's own exit code.
#
#   gate.sh verify
#   gate.sh judge recordings/*
#   gate.sh conform -- ./my-adapter
#
# REPORTS names the folder for the files: runs/reports, if it says nothing.
set -eu

if [ $# -eq 0 ]; then
  echo "gate.sh: say what to ask, such as: gate.sh verify" >&2
  exit 2
fi

verb=$1
shift
folder=${REPORTS:-runs/reports}
case $verb in
  conform) formats='json=report.json junit=report.xml markdown=report.md' ;;
  *) formats='json=report.json junit=report.xml markdown=report.md sarif=report.sarif html=report.html' ;;
esac

# A file of the last time must not be taken for this one's, should this one end without any.
mkdir -p "$folder"
rm -f "$folder"/report.*
for one in $formats; do
  set -- --report "${one%%=*}=$folder/${one#*=}" "$@"
done

exec kcheck "$verb" "$@"
