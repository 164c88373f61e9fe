import { SvcError } from 'svc/sdk';

/** Limits of a pack, whoever made it: these bound the memory and the time of reading one. */
export const limits = {
  packedBytes: 64 * 1024 * 1024,
  unpackedBytes: 100 * 1024 * 1024,
  fileBytes: 16 * 1024 * 1024,
  entries: 2_000,
  nameBytes: 240,
  depth: 16,
  /** Unpacked over packed; small texts that repeat themselves are no bombs. */
  ratio: 100,
  ratioFrom: 1024 * 1024,
} as const;

/** The files of a pack by their paths, as they came. */
export type PackFiles = ReadonlyMap<string, Uint8Array>;

const windowsDevices = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$/i;

export const refused = (message: string): SvcError =>
  new SvcError('invalid_argument', message, { reason: 'marketplace.archive_refused' });

/** Takes the entries of an archive one by one and refuses what could be anything but a plain file below one folder. */
export class EntryList {
  readonly #packedBytes: number;
  readonly #files = new Map<string, Uint8Array>();
  /** Names as a case-insensitive file system sees them; true for files. */
  readonly #taken = new Map<string, boolean>();
  #bytes = 0;
  #count = 0;

  constructor(packedBytes: number) {
    this.#packedBytes = packedBytes;
    if (packedBytes > limits.packedBytes) {
      throw refused(`the archive is larger than ${limits.packedBytes / 1024 / 1024} MiB`);
    }
  }

  /** Reserves an entry before its bytes are unpacked: throws if they would be too many. */
  reserve(name: string, bytes: number): void {
    this.#count += 1;
    this.#bytes += bytes;
    if (this.#count > limits.entries) {
      throw refused(`the archive has more than ${limits.entries} entries`);
    }
    if (bytes > limits.fileBytes) {
      throw refused(`${shown(name)} is larger than ${limits.fileBytes / 1024 / 1024} MiB`);
    }
    if (this.#bytes > limits.unpackedBytes) {
      throw refused(`the archive unpacks to more than ${limits.unpackedBytes / 1024 / 1024} MiB`);
    }
    if (this.#bytes > limits.ratioFrom && this.#bytes > this.#packedBytes * limits.ratio) {
      throw refused(
        `the archive unpacks to more than ${limits.ratio} times its size, as a bomb does`,
      );
    }
  }

  addFolder(name: string): void {
    const path = checkedName(name.replace(/\/+$/, ''));
    if (path !== undefined) {
      this.#claim(path, false);
    }
  }

  addFile(name: string, bytes: Uint8Array): void {
    const path = checkedName(name);
    if (path === undefined) {
      throw refused('the archive has a file without a name');
    }
    this.#claim(path, true);
    this.#files.set(path, bytes);
  }

  /** Returns all files; a common top folder is removed, as archives of repositories have one. */
  end(): PackFiles {
    if (this.#files.size === 0) {
      throw refused('the archive has no files');
    }
    return withoutTop(this.#files);
  }

  #claim(path: string, isFile: boolean): void {
    const parts = path.toLowerCase().split('/');
    parts.slice(0, -1).forEach((_, index) => {
      const folder = parts.slice(0, index + 1).join('/');
      if (this.#taken.get(folder) === true) {
        throw refused(`${shown(path)} lies below a path that is a file in the archive`);
      }
      this.#taken.set(folder, false);
    });
    const key = parts.join('/');
    const before = this.#taken.get(key);
    if (before === true || (before !== undefined && isFile)) {
      throw refused(`${shown(path)} is in the archive twice, or another name differs only by case`);
    }
    this.#taken.set(key, isFile);
  }
}

/** The name as a path below the pack; undefined for the folder itself. */
function checkedName(name: string): string | undefined {
  const path = name.replace(/^(?:\.\/)+/, '');
  if (path === '' || path === '.') {
    return undefined;
  }
  if (path.length > limits.nameBytes) {
    throw refused(
      `a name in the archive is longer than ${limits.nameBytes} characters: ${shown(path.slice(0, 60))}…`,
    );
  }
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) {
    throw refused(`${shown(name)} is an absolute path`);
  }
  if (path.includes('\\')) {
    throw refused(`${shown(name)} has a backslash, which is a folder on some systems`);
  }
  const parts = path.split('/');
  if (parts.includes('..')) {
    throw refused(`${shown(name)} leads out of the pack`);
  }
  if (parts.some((part) => part === '' || part === '.')) {
    throw refused(`${shown(name)} has an empty part`);
  }
  if (parts.length > limits.depth) {
    throw refused(`${shown(name)} lies more than ${limits.depth} folders deep`);
  }
  if (!/^[A-Za-z0-9._@+(),&~'!#%=[\] /-]+$/.test(path)) {
    throw refused(
      `${shown(name)} has characters that are not allowed in the names of a pack: use letters, digits, dots, dashes and underscores`,
    );
  }
  const odd = parts.find((part) => windowsDevices.test(part) || /^ |[. ]$/.test(part));
  if (odd !== undefined) {
    throw refused(
      `${shown(name)} has the part ${shown(odd)}, which is not a valid file name on some systems`,
    );
  }
  return path;
}

function withoutTop(files: PackFiles): PackFiles {
  const names = [...files.keys()];
  const top = names[0]!.split('/', 1)[0]!;
  // These are layouts of a pack, and no folder around one.
  if (
    !names.every((name) => name.startsWith(`${top}/`)) ||
    /^(?:skills|agents|commands|\.claude-plugin|\.mcp\.json)$/.test(top)
  ) {
    return files;
  }
  return new Map([...files].map(([name, bytes]) => [name.slice(top.length + 1), bytes]));
}

/** A name of a stranger in a sentence: printable and on one line. */
export const shown = (name: string): string =>
  JSON.stringify(name).replaceAll(
    /[^ -~]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
