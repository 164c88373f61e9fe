import { quoted, quotedPath } from './service/systemd.ts';

export const serviceName = 'svc';
export const backupUnits = ['svc-backup.timer', 'svc-backup.service'] as const;

export interface UnitOptions {
  /** Program and its first arguments; absolute. */
  readonly command: readonly string[];
  readonly dataDir: string;
  readonly groups: readonly string[];
  /** `name:file` of each, or `svc:folder`. */
  readonly credentials: readonly string[];
}

/** Groups of system calls that the service may make; every other one fails with EPERM. */
export const allowedCalls = ['@system-service', '@mount'] as const;

const lineOf = (words: readonly string[]): string => words.map(quoted).join(' ');

/**
 * Returns the command that settles an update on trial; as root, since the user of the service may
 * not write to its program. The previous version judges the new one.
 */
const settling = (program: string, dataDir: string): readonly string[] => [
  ...[
    '/bin/sh',
    '-c',
    'test ! -e "$1.update.json" || exec "$1.previous" update --settle --program "$1" --data "$2"',
  ],
  ...['sh', program, dataDir],
];

/**
 * Restrictions of a service, which may write to its data folder and nowhere else. Left out on purpose: MemoryDenyWriteExecute ends
 * every program of Node, whose engine writes the code that it runs; ProtectProc and ProcSubset hide the processes, the memory and
 * the load of the machine, which the agent inside of the manager watches. Namespaces and mounts stay possible, since the code of a pack
 * is confined by them (plugins/packs), and the Chromium of checks: in a user namespace of its own, so that they give nothing to the service itself.
 */
const confined = (dataDir: string): string => `UMask=0077
NoNewPrivileges=true
PrivateTmp=true
PrivateDevices=true
PrivateMounts=true
ProtectSystem=strict
ReadWritePaths=${quotedPath(dataDir)}
ProtectHome=read-only
ProtectClock=true
ProtectHostname=true
ProtectKernelLogs=true
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectControlGroups=true
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=${allowedCalls.join(' ')}
SystemCallErrorNumber=EPERM
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=user pid mnt ipc uts net
RestrictRealtime=true
RestrictSUIDSGID=true
LockPersonality=true
`;

/**
 * The manager. Settings that are read at the start stand in /etc/svc/svc.env; secrets are files of /etc/svc/credentials; a port below 1024 wants a proxy
 * in front of it. A start may take long, where data are restored or migrated; a main thread that is stuck for two minutes is started again.
 */
export const unitText = ({ command, dataDir, groups, credentials }: UnitOptions): string => `[Unit]
Description=svc: watches this fleet
Documentation=http://127.0.0.1:8080/docs
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=all
TimeoutStartSec=30min
WatchdogSec=2min
User=${serviceName}
Group=${serviceName}
${groups.length > 0 ? `SupplementaryGroups=${groups.join(' ')}\n` : ''}${command.length === 1 ? `ExecStartPre=-+${lineOf(settling(command[0]!, dataDir))}\n` : ''}ExecStart=${lineOf([...command, 'serve', '--data', dataDir])}
WorkingDirectory=${dataDir.replaceAll('%', '%%')}
EnvironmentFile=-/etc/svc/svc.env
${credentials.map((credential) => `LoadCredential=${credential}\n`).join('')}Environment=SVC_LOG_FORMAT=json MALLOC_ARENA_MAX=2
Restart=always
RestartSec=3
TimeoutStopSec=60
LimitNOFILE=65536
OOMPolicy=continue
${confined(dataDir)}
[Install]
WantedBy=multi-user.target
`;

/**
 * Returns the units of a full backup every night, of which the last seven are kept; unchanged files
 * take no extra space.
 */
export const backupUnitTexts = ({
  command,
  dataDir,
}: Pick<UnitOptions, 'command' | 'dataDir'>): Readonly<
  Record<(typeof backupUnits)[number], string>
> => ({
  'svc-backup.service': `[Unit]
Description=svc: backup of its data

[Service]
Type=oneshot
User=${serviceName}
Group=${serviceName}
ExecStart=${lineOf([...command, 'backup', 'create', '--in', `${dataDir}/backups`, '--keep', '7', '--data', dataDir])}
Nice=10
IOSchedulingClass=idle
${confined(dataDir)}`,
  'svc-backup.timer': `[Unit]
Description=svc: backup of its data, every night

[Timer]
OnCalendar=*-*-* 02:30
RandomizedDelaySec=30min
Persistent=true

[Install]
WantedBy=timers.target
`,
});
