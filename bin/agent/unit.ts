import { quoted } from '../serve/service/systemd.ts';

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
 * The unit, with directives that systemd 219 knows already. An old one passes over three of the last ones with a warning in its log:
 * RestrictNamespaces (since 233), LockPersonality (235) and RestrictSUIDSGID (242). What is not here is left out on purpose:
 * MemoryDenyWriteExecute stops every program of Node, ProtectProc would hide the processes that the agent watches, and
 * ProtectHome=true the logs and disks that people keep there.
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
WorkingDirectory=${dataDir}
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
ProtectHome=read-only
CapabilityBoundingSet=
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=true
LockPersonality=true
RestrictSUIDSGID=true

[Install]
WantedBy=multi-user.target
`;
