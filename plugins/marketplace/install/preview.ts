import { createHash } from 'node:crypto';

import semver from 'semver';
import type { AskedRights } from 'svc/contracts/packs';

import type { NormalizedFile } from '../normalize/pack-folder.ts';
import type { NormalizedPack } from '../normalize/normalize-pack.ts';
import type { Installed, Lock } from './lock.ts';
import type { Fetched } from './sources.ts';

/** Difference to the installed version. */
interface Difference {
  readonly from_version: string;
  readonly files: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
  readonly capabilities: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** Changed lines of texts that people and models read. */
  readonly texts: readonly string[];
}

/** All that an administrator should know before a pack is installed. */
export interface Preview {
  readonly lock: Lock;
  readonly difference: Difference | null;
  /** Reasons why a confirmation is needed; empty if it may be installed without. */
  readonly needs: readonly string[];
  readonly warnings: readonly string[];
  /** Completes "it …" with why nobody can install it. */
  readonly refused: string | undefined;
  /** Hash of everything above: what is confirmed is what was shown. */
  readonly confirm: string;
  /** True if it is installed unchanged, and nothing has to be confirmed. */
  readonly isThere: boolean;
}

/** Past svc, and so past the gate. */
export const connectsItself = ({ permissions }: NormalizedPack['manifest']): boolean =>
  (permissions as { readonly network?: unknown } | undefined)?.network === true;

/** Inputs of a preview. */
interface Weighed {
  readonly normalized: NormalizedPack;
  readonly fetched: Fetched;
  readonly rights: AskedRights & { readonly held: readonly string[] };
  readonly lock: Lock;
  readonly before: Installed | undefined;
  readonly difference: Difference | null;
  /** The version whose data was kept. */
  readonly inherits: string | undefined;
}

/** Weighs what a pack is and wants against what is installed of it. */
export function previewOf(
  normalized: NormalizedPack,
  fetched: Fetched,
  rights: AskedRights & { readonly held: readonly string[] },
  {
    before,
    changes,
    inherits,
  }: {
    readonly before: Installed | undefined;
    readonly changes: readonly string[];
    /** The version whose data was kept. */
    readonly inherits: string | undefined;
  },
): Preview {
  const { origin, sha256, signedBy, signingKey } = fetched;
  const lock: Lock = {
    ...normalized,
    origin,
    sha256,
    signed_by: signedBy,
    signing_key: signingKey,
    rights: rights.sentences,
    rights_hash: rights.sentences.length === 0 ? null : rights.hash,
  };
  const difference = before === undefined ? null : differenceOf(before.lock, lock, changes);
  const weighed: Weighed = { normalized, fetched, rights, lock, before, difference, inherits };
  // What is there already was confirmed when it came.
  const isThere = before !== undefined && sameTerms(before.lock, lock);
  return {
    lock,
    difference,
    needs: isThere ? [] : needsOf(weighed),
    warnings: warningsOf(weighed),
    isThere,
    refused: rights.refused,
    confirm: confirmationOf(weighed),
  };
}

/** Why a word is needed before it is installed. */
function needsOf({
  normalized: { id, findings, servers, verdict },
  fetched,
  rights,
  lock,
  before,
  difference,
  inherits,
}: Weighed): readonly string[] {
  const graver = findings.filter(({ severity }) => severity !== 'info').length;
  return [
    ...(rights.sentences.length > 0
      ? [`it asks for permissions: it ${rights.sentences.join('; it ')}`]
      : []),
    ...(servers.length > 0
      ? [
          `it names MCP servers, which stay off until admitted: ${servers.map(({ name, url }) => `${name} at ${url}`).join(', ')}`,
        ]
      : []),
    ...(verdict === 'pass'
      ? []
      : [`the scan says ${verdict}, with ${graver} ${graver === 1 ? 'finding' : 'findings'}`]),
    ...(fetched.pinned ? [] : ['its source may change, because no commit was named']),
    ...(before === undefined
      ? []
      : [...stepsBack(before.lock, lock), ...otherPersonas(before, difference!)]),
    ...(inherits === undefined
      ? []
      : [
          `it gets the tables and settings that version ${inherits} has left; if that was a pack of someone else, delete those first (svc market purge ${id})`,
        ]),
  ];
}

function warningsOf({ normalized, fetched, rights }: Weighed): readonly string[] {
  return [
    ...(fetched.signedBy === null ? ['unsigned: no key of a registry vouches for it'] : []),
    ...(rights.refused === undefined ? [] : [`it cannot be installed: it ${rights.refused}`]),
    ...(normalized.personas.length > 0
      ? [
          `its personas are read-only, and are not chosen automatically until admitted: ${normalized.personas.join(', ')}`,
        ]
      : []),
    ...(connectsItself(normalized.manifest)
      ? ['it opens connections by itself, which a ceiling of hosts cannot limit']
      : []),
    ...rights.held,
  ];
}

/** The hash of everything that was shown. */
function confirmationOf({ normalized, fetched, rights, before, inherits }: Weighed): string {
  const { sha256, signedBy, signingKey } = fetched;
  const shown = [
    normalized.id,
    normalized.content_hash,
    sha256,
    signedBy,
    signingKey,
    rights.hash,
    normalized.verdict,
    normalized.findings.map(({ rule, file, line }) => [rule, file, line]),
    normalized.servers,
    before?.lock.content_hash ?? null,
    inherits ?? null,
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('hex');
}

/** Returns whether nothing about it would change. */
const sameTerms = (before: Lock, after: Lock): boolean =>
  before.content_hash === after.content_hash &&
  before.rights_hash === after.rights_hash &&
  before.verdict === after.verdict &&
  stepsBack(before, after).length === 0;

/** Returns the respects in which a version is less trustworthy than the installed one. */
function stepsBack(
  before: Lock,
  { version, signed_by: signedBy, signing_key: key, origin, sha256, content_hash: hash }: Lock,
): readonly string[] {
  const { signed_by: by, signing_key: oldKey = key } = before;
  const isOtherKey = signedBy !== null && oldKey !== key;
  // Folders and repositories change under one version while somebody works on them.
  const isRepublished =
    origin.kind === 'registry' &&
    before.origin.kind === 'registry' &&
    sha256 !== null &&
    version === before.version &&
    hash !== before.content_hash;
  return [
    ...(isRepublished
      ? [`it is published as ${version} again, with other content than the installed ${version}`]
      : []),
    ...(by !== null && signedBy === null
      ? [`the installed version is signed by ${by}, and this one is unsigned`]
      : []),
    ...(by !== null && isOtherKey
      ? [`the installed version is signed by another key, that of ${by}`]
      : []),
    ...(semver.lt(version, before.version)
      ? [`it is older than the installed version ${before.version}`]
      : []),
  ];
}

/** Returns the admitted personas that have changed: they were admitted as they were. */
function otherPersonas({ admitted }: Installed, { files }: Difference): readonly string[] {
  const isChanged = [...files.changed, ...files.added, ...files.removed].some((path) =>
    path.startsWith('agents/'),
  );
  return isChanged && admitted.personas.length > 0
    ? [
        `it changes files of personas, of which these were admitted: ${admitted.personas.join(', ')}`,
      ]
    : [];
}

function differenceOf(before: Lock, after: Lock, texts: readonly string[]): Difference {
  const old = byPath(before.files);
  const next = byPath(after.files);
  const capabilities = [capabilitiesOf(before), capabilitiesOf(after)] as const;
  return {
    from_version: before.version,
    files: {
      added: [...next.keys()].filter((path) => !old.has(path)),
      removed: [...old.keys()].filter((path) => !next.has(path)),
      changed: [...next]
        .filter(([path, hash]) => old.has(path) && old.get(path) !== hash)
        .map(([path]) => path),
    },
    capabilities: {
      added: capabilities[1].filter((one) => !capabilities[0].includes(one)),
      removed: capabilities[0].filter((one) => !capabilities[1].includes(one)),
    },
    texts,
  };
}

const byPath = (files: readonly NormalizedFile[]): ReadonlyMap<string, string> =>
  new Map(files.map(({ path, sha256 }) => [path, sha256]));

const capabilitiesOf = ({
  rights,
  tools,
  servers,
  hosts,
  personas,
  skills,
  scripts,
}: Lock): readonly string[] => [
  ...rights.map((right) => `right: ${right}`),
  ...tools.map((tool) => `tool: ${tool}`),
  ...servers.map(({ name, url }) => `MCP server: ${name} at ${url}`),
  ...hosts.map((host) => `host: ${host}`),
  ...personas.map((name) => `persona: ${name}`),
  ...skills.map((name) => `skill: ${name}`),
  ...scripts.map((file) => `script: ${file}`),
];
