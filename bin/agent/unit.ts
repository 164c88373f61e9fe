import { quoted, quotedPath } from '../serve/service/systemd.ts';

/** Options of the unit that runs the agent. */
export interface UnitOptions {
  /** Program and its arguments; absolute. */
  readonly command: readonly string[];
  readonly dataDir: string;
  readonly user: string;
  /** Groups that may read logs, those of them that this machine has. */
  readonly groups: readonly string[];
}

export const serviceName = 'svc-edge';

/**
 * The unit, for any systemd since 219: an older one passes over a directive that it does not know, with a warning in its log, and keeps
 * ProtectSystem=full where it does not know strict. System calls are denied by group, not allowed by group, since an old one would read
 * a list of unknown groups as one that allows none. What is not here is left out on purpose: MemoryDenyWriteExecute stops every program
 * of Node, whose engine writes the code that it runs; ProtectProc would hide the processes that the agent watches, ProtectKernelLogs and
 * PrivateDevices what it may be asked about, and ProtectHome=true the logs and disks that people keep there.
 */
export const unitText = ({ command, dataDir, user, groups }: UnitOptions): string => `[Unit]
Description=svc edge: the agent of this machine
Wants=network-online.target
After=network-online.target

[Service]
Type=simple
User=${user}
Group=${user}
${groups.length > 0 ? `SupplementaryGroups=${groups.join(' ')}\n` : ''}ExecStart=${command.map(quoted).join(' ')}
WorkingDirectory=${dataDir.replaceAll('%', '%%')}
Environment=SVC_LOG_FORMAT=json MALLOC_ARENA_MAX=1
Restart=always
RestartSec=5
TimeoutStopSec=30
UMask=0077
LimitNOFILE=4096
Nice=5
NoNewPrivileges=true
PrivateTmp=true
ProtectSystem=full
ProtectSystem=strict
ReadWritePaths=${quotedPath(dataDir)}
ProtectHome=read-only
ProtectClock=true
ProtectHostname=true
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectControlGroups=true
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @module @mount @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=true
RestrictRealtime=true
LockPersonality=true
RestrictSUIDSGID=true

[Install]
WantedBy=multi-user.target
`;
