/** Positions of secrets in the arguments of a program. Lists of options are separated by spaces. */
export interface SecretOptions {
  /** The value is a secret, in the next argument or in the same one. */
  readonly secret?: string;
  /**
   * Options whose next argument is a secret: in the same argument the letters mean another option.
   */
  readonly apart?: string;
  /** Options whose secret follows in the same argument: alone they prompt for one. */
  readonly joined?: string;
  /** The value names a user (or a key) and, behind the sign, the secret. */
  readonly pair?: string;
  /** Separator of pairs; default a colon. */
  readonly sign?: string;
  /** Named like a secret, yet asks for one where another option follows. */
  readonly asks?: string;
  /** Named like a secret, yet none. */
  readonly shown?: string;
  /** Letters without a value that may precede an option in the same argument. */
  readonly bare?: string;
  /** The argument that follows one like this is a secret. */
  readonly behind?: RegExp;
  /** Matches what precedes a secret in an operand. */
  readonly login?: RegExp;
  /** Letter of an option after which the last argument is a secret; empty means always. */
  readonly last?: string;
  /** The row holds behind one of these words only. */
  readonly after?: string;
}

const [bareOfCurl, bareOfMysql, bareOfZip] = [
  '#0123469aBfgGiIjJklLMnNOpqRsSvVZ',
  'ABCEGHINLVXbcfjnqrstvwi',
  'rqvjmoyDXuf0123456789aAlLnpTVZ',
];
const settings = /passw|secret|token|auth|key$|api_key/i;

/**
 * Programs by name, where a trailing star matches a family; long options that are named clearly
 * need no row.
 */
const rows: readonly (readonly [programs: string, ...SecretOptions[]])[] = [
  // The web.
  [
    'curl',
    { pair: '-u -U --user --proxy-user -E --cert --proxy-cert', bare: bareOfCurl },
    { secret: '-b', bare: bareOfCurl },
  ],
  ['http https xh', { pair: '-a --auth' }],
  ['ab', { pair: '-A -P' }],
  ['hey', { pair: '-a' }],
  [
    'wget websocat wscat transmission-remote',
    { pair: '--user -n --basic-auth --auth', shown: '-n' },
  ],
  ['ftp ncftp*', { secret: '-p' }],
  ['lftp open', { pair: '-u --user', sign: ',' }],
  // Databases and queues.
  ['mysql* mariadb* mycli', { joined: '-p', bare: bareOfMysql, asks: '--password' }],
  [
    'mysqladmin mariadb-admin',
    { joined: '-p', bare: bareOfMysql, asks: '--password', behind: /^(?:old-)?password$/ },
  ],
  ['psql pg_* createdb dropdb createuser vacuumdb reindexdb', { asks: '--password' }],
  ['mongo*', { secret: '-p', asks: '--password' }],
  [
    'redis-cli valkey-cli keydb-cli',
    { apart: '-a', behind: /^(?:requirepass|masterauth)$/i },
    { after: 'auth', last: '' },
  ],
  ['sqlcmd bcp isql osql tsql fisql', { secret: '-P' }],
  ['cqlsh cypher-shell rabbitmqadmin elasticsearch-users usql', { secret: '-p' }],
  ['sqlplus rman expdp impdp exp imp sqlldr sqlcl', { login: /^[^/\s]+\// }],
  ['db2', { behind: /^using$/i }],
  ['influx', { apart: '-t', pair: '-p' }],
  ['etcdctl', { pair: '--user' }],
  ['rabbitmqctl', { after: 'add_user change_password authenticate_user', last: '' }],
  ['mosquitto_pub mosquitto_sub mosquitto_rr', { secret: '-P' }],
  // Accounts and directories.
  ['ldappasswd', { secret: '-w -s -a' }],
  ['ldap*', { secret: '-w', bare: 'xvnLcZWQMIC' }],
  ['kadmin kadmin.local ipa-client-install squidclient', { secret: '-w -pw' }],
  ['ipa-server-install ipa-replica-install', { secret: '-p -a -w' }],
  ['smbclient', { pair: '-U --user', sign: '%', behind: /^(?:\/\/|\\\\)/ }],
  ['rpcclient net smbget smbcacls winexe wmic nmblookup smbtree', { pair: '-U --user', sign: '%' }],
  ['smbmap crackmapexec netexec nxc evil-winrm hydra', { secret: '-p' }],
  ['impacket-*', { login: /^[^/\s:]*\/[^:@\s]+:/ }],
  ['virsh', { after: 'secret-set-value', last: '' }],
  ['samba-tool', { after: 'create add', last: '' }],
  ['htpasswd mosquitto_passwd', { last: 'b' }],
  ['useradd usermod', { secret: '-p' }],
  ['mkpasswd vncpasswd wpa_passphrase', { last: '' }],
  ['radtest', { last: '', behind: /^(?!-)[\w.@-]+$/ }],
  ['radclient', { last: '' }],
  // Keys and archives.
  ['sshpass', { secret: '-p', bare: 'vhV' }],
  ['plink pscp psftp putty', { apart: '-pw' }],
  ['ssh-keygen', { secret: '-N -P' }],
  [
    'openssl',
    { apart: '-k -K -hmac -macopt -psk -pass -passin -passout -password' },
    { after: 'passwd', last: '' },
  ],
  ['7z* rar unrar', { joined: '-p -hp' }],
  ['zip unzip zipcloak', { secret: '-P', bare: bareOfZip }],
  ['pdftk', { behind: /_pw$/ }],
  ['pdftotext pdfinfo pdftoppm', { apart: '-upw -opw' }],
  // Clouds and clusters.
  ['aws', { after: 'configure', behind: settings }, { after: 'put-parameter', secret: '--value' }],
  ['az', { after: 'login create-for-rbac', secret: '-p' }, { after: 'secret', secret: '--value' }],
  [
    'docker podman nerdctl buildah skopeo helm oras crane oc ctr',
    { after: 'login', secret: '-p' },
    { pair: '--creds --src-creds --dest-creds' },
  ],
  ['ctr crictl', { pair: '-u --user --creds' }],
  ['kubectl oc', { pair: '--from-literal', sign: '=' }, { after: 'login', secret: '-p' }],
  ['vault bao', { behind: /^(?:login|unseal)$/ }],
  ['gh', { after: 'secret', secret: '-b --body' }],
  ['doctl', { apart: '-t' }],
  ['mc', { after: 'set add', last: '' }],
  [
    'git npm yarn pnpm pip pip3 composer poetry pulumi rclone',
    { after: 'config', behind: settings },
  ],
  ['cargo', { behind: /^login$/ }],
  ['twine', { secret: '-p' }],
  ['dotnet', { after: 'push', secret: '-k' }],
  ['nuget', { behind: /^setapikey$/i }],
  ['ngrok', { behind: /authtoken$/ }],
  ['bw', { after: 'unlock login', last: '' }],
  ['gitlab-runner', { secret: '-r -t' }],
  ['grafana-cli grafana', { behind: /^reset-admin-password$/ }],
  ['cloudflared', { after: 'install', last: '' }],
  // Machines, networks and screens.
  ['snmp* net-snmp-create-v3-user', { secret: '-A -X -c -3m -3k' }],
  ['ipmitool', { secret: '-P -k -y' }],
  ['ipmi* ipmi-* bmc-* racadm redfishtool fence_*', { secret: '-p -P' }],
  ['rdesktop', { secret: '-p' }],
  ['xfreerdp* wlfreerdp* sdl-freerdp*', { joined: '/p: /gp: /pth: /password: -p:', secret: '-p' }],
  ['swaks', { apart: '-ap' }],
  ['sendemail sendEmail', { apart: '-xp' }],
  ['nmcli wpa_cli pppd iwconfig', { behind: /(?:^|[._-])(?:password|psk|key|secret|wep-key\d)$/ }],
  // Options that only look like it.
  ['sort', { shown: '--key' }],
  ['ffmpeg ffprobe mkvmerge', { shown: '-pass' }],
];

const exact = new Map<string, readonly SecretOptions[]>();
const families: (readonly [string, readonly SecretOptions[]])[] = [];
for (const [programs, ...options] of rows) {
  for (const program of programs.split(' ')) {
    if (program.endsWith('*')) {
      families.push([program.slice(0, -1), options]);
    } else {
      exact.set(program, [...(exact.get(program) ?? []), ...options]);
    }
  }
}

/** Returns what is known of a program, most specific first; undefined for most. */
export const secretOptionsOf = (program: string): readonly SecretOptions[] | undefined =>
  exact.get(program) ?? families.find(([start]) => program.startsWith(start))?.[1];

/** Words before a command in a script; elsewhere ordinary words, as in `docker exec`. */
const shellWords = 'exec command builtin eval if then else elif do while until ! {';

/**
 * Programs that run another one: the options that take the next argument, and the number of
 * operands before the program.
 */
const wrappers = new Map<
  string,
  { readonly valued: ReadonlySet<string>; readonly operands: number }
>();
for (const [programs, valued, operands] of [
  [
    'sudo',
    '-u -g -h -p -C -r -t -T -D -R -U --user --group --host --prompt --chdir --chroot --role --type',
    0,
  ],
  ['doas', '-u -C -a', 0],
  ['env', '-u -C --unset --chdir', 0],
  ['nice ionice', '-n -c --adjustment --class --classdata', 0],
  ['nohup setsid busybox toybox unbuffer torsocks catchsegv dumb-init tini', '', 0],
  [shellWords, '', 0],
  ['stdbuf', '-i -o -e', 0],
  ['time', '-f -o', 0],
  ['strace ltrace', '-o -e -p -s -u -E -P', 0],
  ['nsenter unshare', '-t -S -G --target', 0],
  ['timeout', '-s -k --signal --kill-after', 1],
  ['chroot chrt taskset gosu su-exec faketime', '', 1],
  ['flock', '-w -E --timeout --wait', 1],
  ['numactl', '-m -N -C -i', 0],
  ['systemd-run', '-p -u -M -H --unit --uid --gid --slice --property', 0],
  ['proxychains proxychains4 cgexec', '-f -g', 0],
  ['watch xargs', '-n --interval -I -P -L -d -s -E -a', 0],
] as const) {
  for (const program of programs.split(' ')) {
    wrappers.set(program, { valued: new Set(valued.split(' ')), operands });
  }
}
export const wrapperOf = (
  program: string,
): { readonly valued: ReadonlySet<string>; readonly operands: number } | undefined =>
  wrappers.get(program);

/** Programs that run another one somewhere behind arguments of their own. */
export const carriers: ReadonlySet<string> = new Set(
  (
    'sh bash dash ash zsh ksh ssh sshpass docker docker-compose podman nerdctl kubectl oc crictl ctr lxc lxc-attach incus find parallel su runuser setpriv ip machinectl ' +
    'start-stop-daemon bwrap firejail perf valgrind gdb tmux screen script aws-vault chamber npx poetry op pdsh vagrant'
  ).split(' '),
);

/** Returns whether a word after the arguments of a wrapper begins another command. */
export const isKnownProgram = (program: string): boolean =>
  secretOptionsOf(program) !== undefined ||
  carriers.has(program) ||
  (wrappers.has(program) && !shellWords.split(' ').includes(program));
