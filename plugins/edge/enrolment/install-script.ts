import type { AgentPackage } from '../upgrade/packages.ts';
import { errors } from './errors.ts';

export interface InstallScript {
  readonly manager: string;
  readonly version: string;
  /** `sha256//…` of the key that serves the manager; empty: the authorities of the host decide. */
  readonly pin: string;
  readonly packages: readonly Pick<AgentPackage, 'arch' | 'sha256'>[];
}

/** Names of this machine for itself: no other host gets anywhere by them. */
export const isLoopback = (url: string): boolean =>
  /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0|\[::\])$/.test(new URL(url).hostname);

/** Throws conflict when other hosts cannot reach the manager by the address that it has for itself. */
export function assertReachable(url: string): void {
  if (isLoopback(url)) {
    throw errors.loopback_manager({ url });
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns the script that brings svc to a host and enrols it. It is read completely before any of
 * it runs; nothing is installed unless its digest matches the one given here.
 */
export const installScript = ({
  manager,
  version,
  pin,
  packages,
}: InstallScript): string => `#!/bin/sh
# Brings svc ${version} to this host and enrols it: curl -fsSL ${manager}/install.sh | sudo sh -s -- --token svc_enrol_…
# --to FILE puts it elsewhere; what follows is for "svc edge install", such as --name or --no-service.
set -eu

main() {
  manager=${quoted(manager)}
  pin=${quoted(pin)}
  token=\${SVC_EDGE_TOKEN:-}
  to=/usr/local/bin/svc
  while [ $# -gt 0 ]; do
    case $1 in
      --token) token=\${2:?--token needs the token of an enrolment}; shift 2 ;;
      --to) to=\${2:?--to needs a file}; shift 2 ;;
      *) break ;;
    esac
  done
  [ -n "$token" ] || stop "give --token, or SVC_EDGE_TOKEN: \\"svc edge enrol\\" on the manager makes one"
  [ "$(uname -s)" = Linux ] || stop "svc has agents for Linux, and this is $(uname -s)"
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) stop "svc has no agent for $(uname -m)" ;;
  esac
  case $arch in
${packages.map(({ arch, sha256 }) => `    ${arch}) sum=${sha256} ;;`).join('\n')}
    *) stop "the manager has no package svc-${version}-$arch: put it, and its .sha256, into the folder agent-packages of its data" ;;
  esac
  [ -w "$(dirname "$to")" ] || stop "$(dirname "$to") cannot be written to: run this as root, or give --to FILE"

  new=$(mktemp "$(dirname "$to")/.svc-XXXXXX")
  trap 'rm -f "$new" "$new.head"' EXIT
  # Not as an argument, where every list of processes shows it.
  ( umask 077; printf 'x-enrolment-token: %s\\n' "$token" >"$new.head" )
  from=$manager/internal/edge/agents/$arch
  if command -v curl >/dev/null; then
    if [ -n "$pin" ]; then
      curl -fsS --retry 3 -k --pinnedpubkey "$pin" -H "@$new.head" -o "$new" "$from" || failed
    else
      curl -fsS --retry 3 -H "@$new.head" -o "$new" "$from" || failed
    fi
  elif command -v wget >/dev/null && [ -z "$pin" ]; then
    printf 'header = x-enrolment-token: %s\\n' "$token" >"$new.head"
    wget -q --config="$new.head" -O "$new" "$from" || failed
  else
    stop "install curl first: it fetches svc"
  fi
  printf '%s  %s\\n' "$sum" "$new" | sha256sum -c >/dev/null 2>&1 || stop "what came from $from is not what the manager has: its sha256 is not $sum"
  chmod 755 "$new"
  mv -f "$new" "$to"
  rm -f "$new.head"
  trap - EXIT
  export SVC_EDGE_TOKEN="$token"
  if [ -n "$pin" ]; then set -- --pin "$pin" "$@"; fi
  exec "$to" edge install --manager "$manager" "$@"
}

failed() {
  stop "$from cannot be fetched: is the token still good (\\"svc edge enrolments\\" on the manager), and does this host reach $manager?"
}

stop() {
  printf 'install.sh: %s\\n' "$1" >&2
  exit 1
}

main "$@"
`;
