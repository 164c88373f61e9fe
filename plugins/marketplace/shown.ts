import { type FieldProblem, type PluginStatus, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Installed, Lock } from './install/lock.ts';
import type { Preview } from './install/preview.ts';
import type { HistoryRow } from './install/tables.ts';
import type { RegistryContent } from './registry/registry-index.ts';
import type { RegistryRow } from './registry/tables.ts';
import type {
  HistoryShape,
  InstalledDetail,
  InstalledShape,
  PreviewShape,
  RegistryShape,
} from './shapes.ts';

const orTime = (at: number | null): string | null => (at === null ? null : timestamp(at));

/** Renders a pack, whether it is installed or only previewed. */
const about = ({
  id,
  title,
  version,
  description,
  layout,
  origin,
  sha256,
  signed_by: signedBy,
  verdict,
  findings,
  servers,
  personas,
  ...lock
}: Lock) => ({
  pack_id: id,
  name: title,
  version,
  description,
  layout,
  source: { ...origin },
  sha256,
  content_hash: lock.content_hash,
  signed_by: signedBy,
  verdict,
  findings: findings.map((finding) => ({ ...finding })),
  skills: [...lock.skills],
  agents: [...personas],
  mcp_servers: servers.map((server) => ({ ...server })),
  permissions: [...lock.rights],
  tools: [...lock.tools],
  hosts: [...lock.hosts],
  scripts: [...lock.scripts],
  ignored: [...lock.ignored],
});

export const shownDifference = (
  difference: Preview['difference'],
): Static<typeof PreviewShape>['difference'] =>
  structuredClone(difference) as Static<typeof PreviewShape>['difference'];

export const shownPreview = ({
  lock,
  difference,
  needs,
  warnings,
  confirm,
}: Preview): Static<typeof PreviewShape> => ({
  ...about(lock),
  files: lock.files.map((file) => ({ ...file })),
  manifest: { ...lock.manifest },
  difference: shownDifference(difference),
  needs: [...needs],
  warnings: [...warnings],
  confirm,
});

/** A preview in the details of an error: one line for each thing to know, and the hash that confirms it. */
export function problemsOf({
  lock,
  difference,
  needs,
  warnings,
  confirm,
}: Preview): readonly FieldProblem[] {
  const each = (path: string, texts: readonly string[]): readonly FieldProblem[] =>
    texts.slice(0, 50).map((message, index) => ({ path: `/${path}/${index}`, message }));
  return [
    { path: '/confirm', message: confirm },
    { path: '/pack_id', message: lock.id },
    { path: '/version', message: lock.version },
    { path: '/verdict', message: lock.verdict },
    { path: '/signed_by', message: lock.signed_by ?? 'unsigned' },
    ...(lock.verdict === 'pass'
      ? []
      : [
          {
            path: '/options/reason',
            message: 'why it is installed all the same, in 10 letters or more',
          },
        ]),
    {
      path: '/files',
      message: `${lock.files.length} files, ${lock.files.reduce((sum, { size }) => sum + size, 0)} bytes`,
    },
    // The permissions themselves are listed below, one by one.
    ...each(
      'needs',
      needs.map((need) => need.replace(/^it asks for rights: .*$/s, 'it asks for permissions')),
    ),
    ...each('warnings', warnings),
    ...each('permissions', lock.rights),
    ...each(
      'findings',
      lock.findings.map(
        ({ severity, file, line, message }) =>
          `${severity}: ${file}${line > 0 ? ` line ${line}` : ''} ${message}`,
      ),
    ),
    ...each('tools', lock.tools),
    ...each('hosts', lock.hosts),
    ...each('skills', lock.skills),
    ...each('agents', lock.personas),
    ...each('ignored', lock.ignored),
    ...each(
      'difference/files',
      Object.entries(difference?.files ?? {}).flatMap(([what, files]) =>
        files.map((file) => `${what} ${file}`),
      ),
    ),
    ...each(
      'difference/capabilities',
      Object.entries(difference?.capabilities ?? {}).flatMap(([what, all]) =>
        all.map((one) => `${what} ${one}`),
      ),
    ),
    ...each('difference/texts', difference?.texts ?? []),
  ];
}

/** Returns the state for display: whether it is running, and otherwise why not. */
function stateOf(status: PluginStatus | undefined): {
  readonly state: 'active' | 'disabled' | 'failed';
  readonly error: string | null;
} {
  switch (status?.state) {
    case 'active':
      return { state: 'active', error: status.cause ?? null };
    case 'disabled':
      return { state: 'disabled', error: null };
    default:
      return {
        state: 'failed',
        error: status?.cause ?? `it is ${status?.state ?? 'missing from the data folder'}`,
      };
  }
}

/** Current state of a pack, besides its installation. */
export interface Standing {
  readonly status: PluginStatus | undefined;
  /** Why the folder that it follows is not what serves. */
  readonly trouble: string | undefined;
  /** True if the viewer may see local paths of svc. */
  readonly isForAdministrators: boolean;
}

const somewhere = 'a folder of the machine of svc';

const withoutPaths = (text: string): string =>
  text.replaceAll(/(?<![\w/:.])\/(?:[^\s/'":]{1,255}\/)+/g, '');

function placed(
  pack: Installed,
  { status, trouble, isForAdministrators }: Standing,
): Pick<Static<typeof InstalledShape>, 'source' | 'linked' | 'state' | 'error'> {
  const { origin } = pack.lock;
  const { state, error: cause } = stateOf(status);
  const error = cause ?? trouble ?? null;
  return isForAdministrators
    ? { source: { ...origin }, linked: pack.linked ?? null, state, error }
    : {
        source: { ...origin, ...(origin.kind === 'folder' && { from: somewhere }) },
        linked: pack.linked === undefined ? null : somewhere,
        state,
        error: error === null ? null : withoutPaths(error),
      };
}

export const shownPack = (pack: Installed, standing: Standing): Static<typeof InstalledShape> => ({
  ...about(pack.lock),
  ...placed(pack, standing),
  version_before: pack.before?.version ?? null,
  ceiling: structuredClone(pack.ceiling) as Static<typeof InstalledShape>['ceiling'],
  admitted: { personas: [...pack.admitted.personas], mcp_servers: [...pack.admitted.servers] },
  installed_by: pack.installedBy,
  installed_at: timestamp(pack.installedAt),
  updated_at: timestamp(pack.updatedAt),
});

export const shownDetail = (
  pack: Installed,
  standing: Standing,
): Static<typeof InstalledDetail> => ({
  ...shownPack(pack, standing),
  files: pack.lock.files.map((file) => ({ ...file })),
});

export const shownRegistry = (
  row: RegistryRow,
  { title, format, offers }: RegistryContent,
  isForAdministrators: boolean,
): Static<typeof RegistryShape> => ({
  name: row.name,
  url: row.address.startsWith('/') && !isForAdministrators ? somewhere : row.address,
  title,
  format,
  packs: offers.length,
  signed: row.public_key !== null,
  public_key: row.public_key,
  error: row.error === null || isForAdministrators ? row.error : withoutPaths(row.error),
  refreshed_at: orTime(row.refreshed_at),
  added_by: row.added_by,
  added_at: timestamp(row.added_at),
});

export const shownHistory = ({ done_at: at, ...row }: HistoryRow): Static<typeof HistoryShape> => ({
  ...row,
  done_at: timestamp(at),
});
