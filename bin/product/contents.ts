/** Contents of the binary, by name. `contents.json` lists the others. */
export interface Contents {
  /** Plugin id → its files; asset `plugins/<id>/<file>`. */
  readonly plugins: Readonly<Record<string, readonly string[]>>;
  /** Programs of threads; asset `threads/<name>`. */
  readonly threads: readonly string[];
  /** Assets that must be files to be usable, with their sha256; asset `files/<name>`. */
  readonly files: Readonly<Record<string, string>>;
  /** The public key that the versions after it are signed with, where it was built with one. */
  readonly releaseKey?: string | undefined;
}

export const contentsAsset = 'contents.json';
export const addonFile = 'better_sqlite3.node';

/** Returns the asset name of a program's text; below, of the larger one's compiled form. */
export const programAsset = (name: string): string => `programs/${name}`;
export const pluginAsset = (id: string, file: string): string => `plugins/${id}/${file}`;
export const threadAsset = (name: string): string => `threads/${name}`;
export const fileAsset = (name: string): string => `files/${name}`;
