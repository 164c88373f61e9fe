import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { writeDurably } from '../../core/storage/index.ts';

/**
 * Returns the path of the launcher, which starts the agent and restarts it: small, unchanging, and
 * part of no version.
 */
export const launcherFile = (dataDir: string): string => join(dataDir, 'launch');

/** Puts the launcher into the data folder; from then on it runs the installed program, and no version that was taken before. */
export function placeLauncher(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeDurably(launcherFile(dataDir), launcherText, 0o700);
  for (const leftover of ['current', 'upgrade/trial', 'upgrade/starts', 'upgrade/back']) {
    rmSync(join(dataDir, leftover), { force: true });
  }
}

/**
 * POSIX sh, since it costs a megabyte where another Node would cost fifty. What it shares with the agent are the files of
 * `<data>/upgrade`: `trial` (job, folder of the new version, folder of the old one or `-`, seconds), written by the agent, is the one
 * moment from which the new version runs; renamed to `healthy` by the new agent it has passed. `back` (job, folder, reason) is
 * written here before anything is turned back, so that a kill in the middle is finished by the next start. `current` leads to the version
 * that runs; without it the installed program does.
 */
export const launcherText = String.raw`#!/bin/sh
# launch <data folder> <program> [arguments of it]: keeps the svc edge of this folder running. A new version that does not become
# healthy in time, or ends three times before it is, gives way to the one before.
set -u
umask 077
data=$1
shift
up=$data/upgrade
beat=${'$'}{LAUNCH_BEAT:-2}
pause=${'$'}{LAUNCH_PAUSE:-5}
patience=${'$'}{LAUNCH_PATIENCE:-30}
most=3
mkdir -p "$up" "$data/versions" || exit 1

export MALLOC_ARENA_MAX="${'$'}{MALLOC_ARENA_MAX:-1}"

exec 9>"$up/lock"
if command -v flock >/dev/null 2>&1 && ! flock -n 9; then
  echo "launch: another launcher keeps the agent of $data" >&2
  exit 1
fi

say() { echo "launch: $*" >&2; }

ending=
trap 'ending=yes' TERM INT HUP

# A wait that a signal cuts short.
rest() {
  sleep "$1" 9>&- &
  wait $!
}

# Seconds that no clock setting moves.
look() {
  read -r now ignored </proc/uptime
  now=${'$'}{now%%.*}
}

# Linux maps a program in pieces as large as those in which it came into the page cache. Out of it, where tools can: 38 MB of the
# program are in memory then, where they are 41 of one that was just copied or fetched, and 47 of one that sha256sum has read.
known=
unwritten() {
  [ "$1" = "$known" ] || { sync "$1"; dd if="$1" iflag=nocache count=0; } 2>/dev/null
  known=$1
}

born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# Ends a process politely, then not.
end() {
  kill -TERM "$1" 2>/dev/null
  look
  limit=$((now + patience))
  while kill -0 "$1" 2>/dev/null; do
    look
    [ "$now" -lt "$limit" ] || kill -KILL "$1" 2>/dev/null
    # Dead, with nobody to say so to.
    [ "$now" -lt $((limit + 5)) ] || return 0
    rest 0.2
  done
}

# The agent of a launcher that was killed: it has the folder, and nobody keeps it.
left= since=
[ ! -f "$up/agent" ] || read -r left since <"$up/agent"
if [ -n "$since" ] && [ "$(born "$left")" = "$since" ]; then
  say "ending the agent of a launcher that is gone, process $left"
  end "$left"
fi

trial() {
  job= new= old= window=
  [ -f "$up/trial" ] || return 1
  { read -r job && read -r new && read -r old && read -r window; } <"$up/trial" 2>/dev/null
  case $new:$old in *[!A-Za-z0-9.:+-]* | .* | *:.* | :* | *:) new= ;; esac
  case $window in '' | *[!0-9]*) new= ;; esac
  [ -n "$new" ] && return 0
  mv -f "$up/trial" "$up/trial.damaged"
  return 1
}

# One rename: whoever looks sees the one version or the other.
lead() {
  if [ "$1" = - ]; then
    rm -f "$data/current"
  else
    ln -sfn "versions/$1" "$data/current.new" && mv -Tf "$data/current.new" "$data/current"
  fi
  sync -f "$data" 2>/dev/null || sync
}

# back <reason>; without one it finishes what a kill has interrupted.
back() {
  if [ $# -gt 0 ]; then
    say "back to the version before: $1"
    printf '%s\n%s\n%s\n' "$job" "$new" "$1" >"$up/back.new" && mv -f "$up/back.new" "$up/back"
  fi
  lead "$old"
  rm -f "$up/trial" "$up/starts"
}

tries=0
last=
while [ -z "$ending" ]; do
  onTrial=
  if trial; then
    [ "$tries" -gt 0 ] || [ ! -f "$up/starts" ] || read -r tries <"$up/starts"
    case $tries in '' | *[!0-9]*) tries=0 ;; esac
    if [ -f "$up/back" ]; then
      back
    elif [ "$tries" -ge "$most" ]; then
      back "it ended $tries times before it was healthy$last"
    else
      tries=$((tries + 1))
      echo "$tries" >"$up/starts"
      lead "$new"
      onTrial=yes
      look
      deadline=$((now + window))
    fi
  fi
  [ -n "$onTrial" ] || { tries=0; rm -f "$up/starts"; }

  runs=-
  if [ -L "$data/current" ]; then
    runs=$(readlink "$data/current")
    runs=${'$'}{runs##*/}
    if [ ! -x "$data/versions/$runs/svc" ]; then
      say "version $runs is not there any more; running the installed program"
      runs=-
    fi
  fi
  if [ "$runs" = - ]; then
    unwritten "$1"
    SVC_EDGE_RUNNING=- SVC_EDGE_LAUNCHER=$$ "$@" edge --data "$data" 9>&- &
  else
    unwritten "$data/versions/$runs/svc"
    SVC_EDGE_RUNNING=$runs SVC_EDGE_LAUNCHER=$$ "$data/versions/$runs/svc" edge --data "$data" 9>&- &
  fi
  child=$!
  echo "$child $(born $child)" >"$up/agent"

  changing=
  while kill -0 "$child" 2>/dev/null && [ -z "$ending$changing" ]; do
    rest "$beat"
    look
    if trial; then
      if [ -z "$onTrial" ] || [ "$new" != "$runs" ]; then
        onTrial=
        changing=yes
        tries=0
      elif [ "$now" -ge "$deadline" ]; then
        changing=yes
      fi
    else
      onTrial=
    fi
  done
  if [ -n "$ending$changing" ]; then
    end "$child"
  fi
  wait "$child"
  last=", last with exit code $?"
  rm -f "$up/agent"
  if [ -n "$onTrial" ] && [ -n "$changing" ] && trial; then
    back "it was not healthy within $window seconds"
  fi
  [ -n "$ending$changing" ] || rest "$pause"
done
`;
