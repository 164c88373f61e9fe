import { gunzipSync } from 'node:zlib';

import type { BrowserModule } from 'svc/contracts/console';

/** One file for browsers, packed when it was made and never again. */
interface Asset {
  readonly type: string;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

export interface AssetAnswer {
  readonly type: string;
  readonly coding: 'br' | 'gzip' | undefined;
  readonly bytes: Uint8Array;
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The files of the page and of the modules that others add, by names that tell their content: no name ever means two things. */
export class Assets {
  readonly #own: ReadonlyMap<string, Asset>;
  readonly #added: () => readonly BrowserModule[];
  readonly #unpacked = new WeakMap<BrowserModule, ReadonlyMap<string, Asset>>();
  readonly page: BrowserModule;

  constructor(page: BrowserModule, added: () => readonly BrowserModule[]) {
    this.page = page;
    this.#own = unpacked(page);
    this.#added = added;
  }

  /**
   * Returns the answer for a file; undefined for an unknown name, perhaps of a page that was loaded
   * before svc was replaced.
   */
  find(name: string, accepted: string | undefined): AssetAnswer | undefined {
    const asset = this.#own.get(name) ?? this.#ofOthers(name);
    if (asset === undefined) {
      return undefined;
    }
    const { type, gzip, brotli } = asset;
    if (/\bbr\b/.test(accepted ?? '')) {
      return { type, coding: 'br', bytes: brotli };
    }
    return /\bgzip\b/.test(accepted ?? '')
      ? { type, coding: 'gzip', bytes: gzip }
      : { type, coding: undefined, bytes: gunzipSync(gzip) };
  }

  #ofOthers(name: string): Asset | undefined {
    for (const module of this.#added()) {
      const files = this.#unpacked.get(module) ?? unpacked(module);
      this.#unpacked.set(module, files);
      const asset = files.get(name);
      if (asset) {
        return asset;
      }
    }
    return undefined;
  }
}

const unpacked = ({ files }: BrowserModule): ReadonlyMap<string, Asset> =>
  new Map(
    files.map(({ name, gzip, brotli }) => [
      name,
      {
        type: types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
        gzip: Buffer.from(gzip, 'base64'),
        brotli: Buffer.from(brotli, 'base64'),
      },
    ]),
  );
