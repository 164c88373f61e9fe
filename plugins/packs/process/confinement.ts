import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Confinement of a pack's process by the operating system. `own-user`: namespaces, and a user that
 * owns nothing; `namespaces`: those, as the user of svc, who is not root; `none`: the system offers
 * neither, and only the restrictions of Node apply.
 */
export type Confinement = 'own-user' | 'namespaces' | 'none';

/** Confinement of one process. */
export interface Hold {
  readonly confinement: Confinement;
  /** Mount point of the process's root; only its parent namespace sees it. */
  readonly root: string;
  /** Files and folders that are visible, besides those of the system; all read-only. */
  readonly visible: readonly string[];
  readonly network: boolean;
  /** Number of a user that owns nothing; undefined: that of svc, without its capabilities. */
  readonly user: number | undefined;
  readonly memoryMb: number;
}

const forNames = [
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/ssl',
  '/etc/pki',
  '/etc/localtime',
];

/**
 * Script that makes a root with the system's libraries, read-only, and what is visible, and enters
 * it permanently: without capabilities nothing leads out of it again, and such a root allows no
 * namespaces. No step forks, so that svc knows the process by its pid.
 */
const script = `set -eu
umask 022
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1
shift
echo 1000 > /proc/self/oom_score_adj
mount -t tmpfs -o size=256k,mode=755,nosuid,nodev,noexec pack "$root"
bind() {
  if [ -e "$root$1" ]; then return; fi
  if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$root\${1%/*}"; : > "$root$1"; fi
  mount --bind "$1" "$root$1"
  mount -o "remount,bind,ro,nosuid,nodev$2" "$root$1"
}
for system in /usr /lib /lib32 /lib64 /libx32 /bin /sbin; do
  if [ -L "$system" ]; then ln -s "$(readlink "$system")" "$root$system"; elif [ -d "$system" ]; then bind "$system" ''; fi
done
bind "$1" ''
shift
while [ "$1" != -- ]; do
  bind "$1" ,noexec
  shift
done
shift
mount -o remount,bind,ro,nosuid,nodev,noexec "$root"
unset PWD OLDPWD
exec chroot "$root" "$@"
`;

/** Returns a command with its arguments, as it is run in confinement. */
export function held(command: readonly string[], hold: Hold): readonly string[] {
  const { confinement, root, visible, network, user, memoryMb } = hold;
  if (confinement === 'none') {
    return command;
  }
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const spaces = [
    '--mount',
    '--ipc',
    '--uts',
    ...(network ? [] : ['--net']),
    ...(confinement === 'own-user' ? [] : ['--user', '--map-root-user']),
  ];
  const isOwn = confinement === 'own-user' && user !== undefined;
  const limits = [
    '--core=0',
    '--fsize=0',
    '--nofile=512',
    `--data=${memoryMb * 1024 * 1024}`,
    ...(isOwn ? ['--nproc=64'] : []),
  ];
  const privileges = [
    // Where svc is killed, a pack in a loop would never see that its channel is closed.
    ...['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--pdeathsig=KILL'],
    ...(isOwn ? [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'] : []),
  ];
  const seen = [...visible, ...(network ? forNames : ['/etc/localtime'])].filter((path) =>
    existsSync(path),
  );
  return [
    ...[
      'unshare',
      ...spaces,
      '--',
      'sh',
      '-c',
      script,
      'pack',
      root,
      process.execPath,
      ...seen,
      '--',
    ],
    ...['prlimit', ...limits, 'setpriv', ...privileges, '--', ...command],
  ];
}

const trialMs = 5_000;
/** Users without an account, in the range that systemd keeps for dynamic users. */
export const firstUser = 61_184;
export const lastUser = 65_519;

/** The strongest hold that this system lends, found out by trying each. */
export async function findConfinement(cacheDir: string): Promise<Confinement> {
  const isRoot = process.getuid?.() === 0;
  const wanted: readonly Confinement[] =
    process.platform !== 'linux' ? [] : isRoot ? ['own-user'] : ['namespaces'];
  for (const confinement of wanted) {
    const hold = {
      confinement,
      root: join(cacheDir, 'root'),
      visible: [],
      network: false,
      user: lastUser,
      memoryMb: 1_024,
    };
    if (await succeeds(held([process.execPath, '--version'], hold))) {
      return confinement;
    }
  }
  return 'none';
}

function succeeds([command, ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    // A single binary answers Node's version flag like Node only without its own role.
    const trial = spawn(command!, args, {
      stdio: 'ignore',
      env: {},
      timeout: trialMs,
      killSignal: 'SIGKILL',
      cwd: '/',
    });
    trial.once('error', () => resolve(false));
    trial.once('exit', (code) => resolve(code === 0));
  });
}

/** Description of the confinement, which an administrator reads before they admit a pack. */
export const sentenceOf: Readonly<Record<Confinement, string>> = {
  'own-user':
    'its code runs in its own process, confined by the operating system: its own user that owns nothing, its own file system with its files and the system libraries, no network unless it asks for one, no capabilities, limits of memory and processes; and inside it the permission model of Node',
  namespaces:
    'its code runs in its own process, confined by the operating system with namespaces: its own file system with its files and the system libraries, no network unless it asks for one, no capabilities; it runs as the user of svc, so only the permission model of Node keeps it from sending signals to processes of that user',
  none: 'its code runs in its own process under the permission model of Node, which confines files, programs, threads and the network in JavaScript: this system offers svc no namespaces (unshare), so it is not a boundary of the operating system, and does not cover a fault of the engine',
};
