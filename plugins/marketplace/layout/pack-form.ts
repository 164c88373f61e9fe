import type { PackFiles } from '../archive/entry-list.ts';

/** MCP server, as a pack names it. */
export interface PackServer {
  readonly name: string;
  readonly url: string;
}

/** A pack as it will lie in its folder, whatever layout it came in. */
export interface PackForm {
  readonly layout: 'svc' | 'claude' | 'skills';
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  /** The files of its folder, `plugin.json` among them. */
  readonly files: PackFiles;
  readonly personas: readonly string[];
  readonly skills: readonly string[];
  readonly servers: readonly PackServer[];
  /** Tools that its skills and personas name. */
  readonly tools: readonly string[];
  /** Parts without effect here, in sentences. */
  readonly ignored: readonly string[];
}

/** Known facts about a pack besides its files. */
export interface Naming {
  /** Name under which it was requested; a pack of our layout has an id of its own. */
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** Entry of a marketplace, which adds to the manifest of a Claude plugin or replaces it. */
  readonly entry: Readonly<Record<string, unknown>> | undefined;
  /** Ids of plugins that ship with svc: no pack takes one. */
  readonly reserved: readonly string[];
  /** Names of personas and skills that are served without packs. */
  readonly taken: readonly string[];
  /** The same of installed packs, by their ids: what an earlier version of a pack has is its own. */
  readonly ofPacks: Readonly<Record<string, readonly string[]>>;
}

export const takenFor = (id: string, { taken, ofPacks }: Naming): ReadonlySet<string> =>
  new Set([
    ...taken,
    ...Object.entries(ofPacks).flatMap(([other, names]) => (other === id ? [] : names)),
  ]);

export const idForm = /^[a-z][a-z0-9-]{1,40}$/;

/** Makes an id of ours from a name. */
export function idFrom(name: string, reserved: readonly string[]): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const id = (/^[a-z]/.test(plain) ? plain : `pack-${plain}`).slice(0, 36).replace(/-+$/, '');
  return idForm.test(id) && !reserved.includes(id) ? id : `${id}-pack`;
}

/** A name that is free: the one that was asked for, or the same with the pack before it. */
export function freeName(wanted: string, id: string, taken: ReadonlySet<string>): string {
  const candidates = [
    wanted,
    `${id}-${wanted}`,
    ...Array.from({ length: 98 }, (_, index) => `${id}-${wanted}-${index + 2}`),
  ];
  return candidates
    .map((name) => name.slice(0, 64).replace(/-+$/, ''))
    .find((name) => !taken.has(name))!;
}

export const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
