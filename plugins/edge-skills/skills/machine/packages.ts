import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { MachineFiles } from 'svc/probe';

import type { AllowedViews } from '../../reach/allowed-views.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { errors } from '../errors.ts';
import { fitRows, plainText } from '../fit-rows.ts';

export interface PackageParts {
  readonly programs: MachinePrograms;
  readonly views: AllowedViews;
  readonly files: MachineFiles;
}

interface ListParams {
  readonly name?: string;
  readonly limit: number;
}

const maxOutput = 8 * 1024 * 1024;
const maxHistory = 2 * 1024 * 1024;
const name = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9.+:_-]{0,99}$',
  description: 'Only packages whose name contains this text.',
} as const;
const common = { class: 'safe', tier: 'specialty' } as const;

/** The package manager of this machine. */
type Manager = 'dpkg' | 'rpm';

/** The package manager whose database is here: both programs may be installed. */
function managerOf({ programs, files }: PackageParts): Manager {
  if (
    programs.find('dpkg-query') !== undefined &&
    files.names('/var/lib/dpkg/info') !== undefined
  ) {
    return 'dpkg';
  }
  if (programs.find('rpm') !== undefined) {
    return 'rpm';
  }
  throw errors.no_package_manager();
}

export const packagesList = (parts: PackageParts): EdgeSkill => ({
  ...common,
  key: 'packages_list',
  name: 'Installed packages',
  description:
    'Installed packages with their versions (dpkg or rpm); optionally filtered by part of the name.',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { name, limit: { type: 'integer', minimum: 1, maximum: 1000, default: 200 } },
  },
  async run({ name: part, limit }: ListParams, call: SkillCall) {
    parts.views.requireView('packages');
    const manager = managerOf(parts);
    const { text } = await (manager === 'dpkg'
      ? parts.programs.ask('dpkg-query', 'packages_list', {
          args: [
            '--show',
            '--showformat=${db:Status-Status}\\t${Package}\\t${Version}\\t${Architecture}\\n',
          ],
          call,
          maxBytes: maxOutput,
        })
      : parts.programs.ask('rpm', 'packages_list', {
          args: [
            '-qa',
            '--queryformat',
            'installed\\t%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\n',
          ],
          call,
          maxBytes: maxOutput,
        }));
    const found = text
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(
        ([state, pkg]) => state === 'installed' && (part === undefined || pkg!.includes(part)),
      )
      .map(([, pkg, version, arch]) => ({ name: pkg!, version: version!, arch: arch! }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const rows = fitRows(found.slice(0, limit));
    const readOn =
      rows.length < found.length
        ? { hint: 'There are more packages: filter by part of the name.', params: {} }
        : undefined;
    return { result: { manager, total: found.length, packages: rows }, readOn };
  },
});

export const packagesPending = (parts: PackageParts): EdgeSkill => ({
  ...common,
  key: 'packages_pending',
  name: 'Pending updates',
  description:
    'Packages for which the package lists last fetched by the machine contain a newer version, security updates first, and whether a restart is required. Nothing is fetched or installed.',
  maxMs: 60_000,
  schema: { type: 'object', additionalProperties: false, properties: {} },
  async run(_params: object, call: SkillCall) {
    parts.views.requireView('packages');
    const manager = managerOf(parts);
    const found = await (manager === 'dpkg'
      ? pendingOfApt(parts, call)
      : pendingOfDnf(parts, call));
    const rows = fitRows(found.toSorted((a, b) => Number(b.security) - Number(a.security)));
    return {
      result: {
        manager,
        total: found.length,
        security: found.filter(({ security }) => security).length,
        restart_required: parts.files.text('/run/reboot-required', 256) !== undefined,
        updates: rows,
      },
    };
  },
});

export const packagesHistory = (parts: PackageParts): EdgeSkill => ({
  ...common,
  key: 'packages_history',
  name: 'History of packages',
  description:
    'Packages that were installed, upgraded or removed most recently, newest first, with the time of each change (from the dpkg log or the rpm install times).',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { name, limit: { type: 'integer', minimum: 1, maximum: 500, default: 50 } },
  },
  async run({ name: part, limit }: ListParams, call: SkillCall) {
    parts.views.requireView('packages');
    const manager = managerOf(parts);
    const found = (
      manager === 'dpkg' ? historyOfDpkg(parts.files) : await historyOfRpm(parts, call)
    ).filter((row) => part === undefined || row.name.includes(part));
    const rows = fitRows(found.slice(0, limit));
    const readOn =
      rows.length < found.length
        ? {
            hint: 'Older changes exist: raise the limit, or filter by part of the name.',
            params: {},
          }
        : undefined;
    return { result: { manager, changes: rows }, readOn };
  },
});

interface Pending {
  readonly name: string;
  readonly installed: string | null;
  readonly available: string;
  readonly security: boolean;
}

/** Simulated, without a lock and without the network: `Inst curl [7.88.1-1] (7.88.1-2 Debian-Security:12/stable-security [amd64])`. */
async function pendingOfApt({ programs }: PackageParts, call: SkillCall): Promise<Pending[]> {
  const { text } = await programs.ask('apt-get', 'packages_pending', {
    args: [
      '--simulate',
      '-o',
      'Debug::NoLocking=true',
      '-o',
      'APT::Get::Show-User-Simulation-Note=false',
      '-o',
      'Dir::Cache::pkgcache=',
      '-o',
      'Dir::Cache::srcpkgcache=',
      'dist-upgrade',
    ],
    call,
    maxBytes: maxOutput,
  });
  return text.split('\n').flatMap((line) => {
    const [, pkg, installed = null, available, from] =
      /^Inst (\S+)(?: \[([^\]]+)\])? \((\S+) ([^[)]*)/.exec(line) ?? [];
    return pkg === undefined
      ? []
      : [{ name: pkg, installed, available: available!, security: /security/i.test(from!) }];
  });
}

/** `curl.x86_64  7.76.1-31.el9  baseos`; exit code 100 says that there are some. */
async function pendingOfDnf({ programs }: PackageParts, call: SkillCall): Promise<Pending[]> {
  const { text } = await programs.ask('dnf', 'packages_pending', {
    args: ['--quiet', '--cacheonly', 'check-update'],
    call,
    maxBytes: maxOutput,
    codes: [0, 100],
  });
  return text.split('\n').flatMap((line) => {
    const [, pkg, available, from] = /^(\S+)\.\w+\s+(\S+)\s+(\S+)$/.exec(line) ?? [];
    return pkg === undefined
      ? []
      : [{ name: pkg, installed: null, available: available!, security: /security/i.test(from!) }];
  });
}

interface Change {
  readonly at: string;
  readonly action: string;
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** `2026-11-29 12:26:01 upgrade curl:amd64 7.88.1-1 7.88.1-2`, in this file and the one before it; the time is the machine's own. */
function historyOfDpkg(files: MachineFiles): Change[] {
  const lines = ['/var/log/dpkg.log.1', '/var/log/dpkg.log'].flatMap((file) =>
    (files.text(file, maxHistory) ?? '').split('\n'),
  );
  return lines
    .flatMap((line) => {
      const [, day, time, action, pkg, from, to] =
        /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (install|upgrade|remove|purge) (\S+) (\S+) (\S+)$/.exec(
          line,
        ) ?? [];
      return day === undefined
        ? []
        : [
            {
              at: `${day} ${time}`,
              action: action!,
              name: plainText(pkg!),
              from: known(from!),
              to: known(to!),
            },
          ];
    })
    .toReversed();
}

const known = (version: string): string | null => (version === '<none>' ? null : version);

async function historyOfRpm({ programs }: PackageParts, call: SkillCall): Promise<Change[]> {
  const { text } = await programs.ask('rpm', 'packages_history', {
    args: ['-qa', '--queryformat', '%{INSTALLTIME}\\t%{NAME}\\t%{VERSION}-%{RELEASE}\\n'],
    call,
    maxBytes: maxOutput,
  });
  return text
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([seconds]) => /^\d{1,12}$/.test(seconds ?? ''))
    .toSorted(([a], [b]) => Number(b) - Number(a))
    .map(([seconds, pkg, version]) => ({
      at: new Date(Number(seconds) * 1_000).toISOString(),
      action: 'installed',
      name: pkg!,
      from: null,
      to: version!,
    }));
}
