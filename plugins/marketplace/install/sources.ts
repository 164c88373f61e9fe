import { dirname, join } from 'node:path';

import { type PluginContext, SvcError } from 'svc/sdk';

import type { Arrivals, Uploaded } from '../archive/arrivals.ts';
import { limits } from '../archive/entry-list.ts';
import { realFolder } from '../archive/read-folder.ts';
import { SmartHttp } from '../git/smart-http.ts';
import type { PackContent } from '../normalize/normalize-pack.ts';
import { isSecure, refuseUser } from '../registry/address.ts';
import { type Registries, shippedName } from '../registry/registries.ts';
import type { OfferSource } from '../registry/registry-index.ts';
import { isSigned } from '../registry/signature.ts';
import type { RegistryRow } from '../registry/tables.ts';
import { errors } from './errors.ts';
import type { Origin } from './lock.ts';

/** Request to install a pack: exactly one of these fields. */
export interface Wanted {
  readonly registry?: string;
  readonly pack_id?: string;
  readonly version?: string;
  readonly url?: string;
  readonly sha256?: string;
  readonly git?: {
    readonly url: string;
    readonly commit?: string;
    readonly ref?: string;
    readonly path?: string;
  };
  readonly folder?: string;
  /** The pack within an archive. */
  readonly path?: string;
}

/** The bytes of a pack, and how it is known that they are the right ones. */
export interface Fetched {
  readonly content: PackContent;
  readonly path: string;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly entry: Readonly<Record<string, unknown>> | undefined;
  readonly origin: Origin;
  readonly sha256: string | null;
  readonly signedBy: string | null;
  /** The key that was pinned to that registry. */
  readonly signingKey: string | null;
  /** True if a repeated request yields the same bytes. */
  readonly pinned: boolean;
}

const timeoutMs = 120_000;

const invalid = (message: string): SvcError =>
  new SvcError('invalid_argument', message, { reason: 'marketplace.source' });

/** Brings packs here from wherever they are, checked against what was promised of them. */
export class Sources {
  readonly #fetch: PluginContext['fetch'];
  readonly #registries: Registries;
  readonly #git: SmartHttp;
  readonly #arrivals: Arrivals;
  /** Folder of svc itself. */
  readonly #data: string;

  constructor(
    fetch: PluginContext['fetch'],
    registries: Registries,
    arrivals: Arrivals,
    data: string,
  ) {
    this.#fetch = fetch;
    this.#arrivals = arrivals;
    this.#data = data;
    this.#registries = registries;
    this.#git = new SmartHttp(fetch);
  }

  async bring(wanted: Wanted, signal: AbortSignal): Promise<Fetched> {
    const named = (['registry', 'url', 'git', 'folder'] as const).filter(
      (key) => wanted[key] !== undefined,
    );
    if (named.length !== 1) {
      throw invalid(
        `name one source: "registry" with "pack_id", "url" with "sha256", "git", or "folder"${named.length === 0 ? '' : `; got ${named.join(' and ')}`}`,
      );
    }
    const { registry, pack_id: packId, url, sha256, git, folder, path = '' } = wanted;
    if (registry !== undefined) {
      if (packId === undefined) {
        throw invalid('name the pack of the registry by "pack_id"');
      }
      return await this.#fromRegistry(registry, packId, wanted.version, signal);
    }
    const plain = {
      path,
      name: undefined,
      version: undefined,
      entry: undefined,
      signedBy: null,
      signingKey: null,
    };
    if (url !== undefined) {
      if (sha256 === undefined) {
        throw invalid('an address needs the "sha256" of its file');
      }
      if (url.startsWith('/')) {
        throw invalid('an address must begin with https://; upload a file of this machine');
      }
      refuseUser(url);
      const file = await this.#archive(url, sha256, signal);
      return {
        ...plain,
        content: { kind: 'archive', file },
        origin: { kind: 'url', from: url, path },
        sha256,
        pinned: true,
      };
    }
    return git === undefined
      ? this.#fromFolder(folder!, path, plain)
      : await this.#fromGit(git, plain, signal);
  }

  /** Deletes what was brought here for one use. */
  async release({ content }: Fetched): Promise<void> {
    if (content.kind === 'archive') {
      await this.#arrivals.discard(content.file);
    }
  }

  /** Writes the body of a request to a file. */
  async arrived(body: AsyncIterable<Uint8Array>): Promise<string> {
    const { file } = await this.#arrivals.take(async (write) => {
      for await (const piece of body) {
        await write(piece);
      }
    });
    return file;
  }

  /** An archive that came with the request itself. */
  uploaded({ file, from, to, sha256 }: Uploaded, path: string): Fetched {
    return {
      content: { kind: 'archive', file, from, to },
      path,
      name: undefined,
      version: undefined,
      entry: undefined,
      origin: { kind: 'upload', from: sha256, path },
      sha256,
      signedBy: null,
      signingKey: null,
      pinned: true,
    };
  }

  async #fromRegistry(
    registry: string,
    name: string,
    version: string | undefined,
    signal: AbortSignal,
  ): Promise<Fetched> {
    const { row, offer } = await this.#registries.offer(registry, name);
    const found =
      version === undefined
        ? offer.versions[0]
        : offer.versions.find((one) => one.version === version);
    if (found === undefined) {
      const known = offer.versions.slice(0, 10).map((one) => one.version);
      throw errors.no_version({ registry, version: `${version}`, name, known: known.join(', ') });
    }
    const origin: Origin = { kind: 'registry', from: registry, name };
    const plain = { name, version: found.version, entry: offer.entry, origin };
    return await this.#fromOffer(found.source, plain, row, signal);
  }

  async #fromOffer(
    source: OfferSource,
    plain: Pick<Fetched, 'name' | 'version' | 'entry' | 'origin'>,
    { name: registry, address, public_key: key }: RegistryRow,
    signal: AbortSignal,
  ): Promise<Fetched> {
    if (key !== null && source.kind !== 'archive') {
      throw invalid(
        `the registry ${registry} has a key, but what it offers under ${plain.name} cannot be signed`,
      );
    }
    switch (source.kind) {
      case 'archive': {
        if (key !== null && !isSigned(key, source.sha256, source.signature)) {
          throw errors.not_signed({ name: `${plain.name}`, registry });
        }
        const file = await this.#archive(source.url, source.sha256, signal, address);
        return {
          ...plain,
          content: { kind: 'archive', file },
          path: '',
          sha256: source.sha256,
          signedBy: key === null ? null : registry,
          signingKey: key,
          pinned: true,
        };
      }
      case 'git':
        return {
          ...(await this.#fromGit(
            source,
            { ...plain, path: source.path, signedBy: null, signingKey: null },
            signal,
          )),
          origin: plain.origin,
        };
      case 'inside': {
        if (!address.startsWith('/')) {
          throw invalid(
            `${plain.name} lies next to the index of ${registry}, which is not a folder of this machine; install it with "git" and its repository`,
          );
        }
        return {
          ...plain,
          content: {
            kind: 'folder',
            path:
              registry === shippedName
                ? realFolder(folderOf(address))
                : this.#outside(realFolder(folderOf(address))),
          },
          path: source.path,
          sha256: null,
          signedBy: null,
          signingKey: null,
          pinned: true,
        };
      }
      case 'none':
        throw invalid(`${plain.name} cannot be installed: ${source.why}`);
    }
  }

  async #fromGit(
    {
      url,
      commit,
      ref,
      path = '',
    }: {
      readonly url: string;
      readonly commit?: string | undefined;
      readonly ref?: string | undefined;
      readonly path?: string;
    },
    plain: Omit<Fetched, 'content' | 'origin' | 'sha256' | 'pinned'>,
    signal: AbortSignal,
  ): Promise<Fetched> {
    if (!isSecure(url)) {
      throw invalid('a repository is an https:// address');
    }
    refuseUser(url);
    const at = commit ?? (await this.#git.resolve(url, ref, signal));
    const bytes = await this.#git.fetchCommit(url, at, signal);
    const name =
      plain.name ??
      (path.split('/').findLast((part) => part !== '') ||
        url
          .replace(/\/+$/, '')
          .replace(/\.git$/, '')
          .split('/')
          .at(-1));
    return {
      ...plain,
      name,
      path,
      content: { kind: 'git', bytes, commit: at },
      origin: { kind: 'git', from: url, path, commit: at },
      sha256: null,
      pinned: commit !== undefined,
    };
  }

  #fromFolder(
    folder: string,
    path: string,
    plain: Omit<Fetched, 'content' | 'origin' | 'sha256' | 'pinned'>,
  ): Fetched {
    if (!folder.startsWith('/')) {
      throw invalid('a folder is named by its absolute path on the machine of svc');
    }
    // Once: where a link on the way leads to later makes no difference.
    const real = this.#outside(realFolder(folder));
    const name = join(real, path)
      .split('/')
      .findLast((part) => part !== '');
    return {
      ...plain,
      name,
      content: { kind: 'folder', path: real },
      origin: { kind: 'folder', from: real, path },
      sha256: null,
      pinned: true,
    };
  }

  /** Keys and packs of others are no source of a pack. */
  #outside(folder: string): string {
    const data = realFolder(this.#data);
    if (folder === data || folder.startsWith(`${data}/`)) {
      throw invalid(
        'a folder below the data folder of svc cannot be the source of a pack; copy the pack to another place',
      );
    }
    return folder;
  }

  async #archive(url: string, sha256: string, signal: AbortSignal, registry = ''): Promise<string> {
    const arrived = await (url.startsWith('/')
      ? this.#arrivals.copy(url, folderOf(registry))
      : this.#arrivals.take((write) => this.#download(url, signal, write)));
    if (arrived.sha256 !== sha256.toLowerCase()) {
      await this.#arrivals.discard(arrived.file);
      throw errors.other_bytes({ actual: arrived.sha256 });
    }
    return arrived.file;
  }

  async #download(
    url: string,
    signal: AbortSignal,
    write: (piece: Uint8Array) => Promise<void>,
  ): Promise<void> {
    const { status } = await this.#fetch(url, {
      maxBytes: limits.packedBytes,
      timeoutMs,
      redirects: 5,
      signal,
      onBody: (head) => (head.status === 200 ? write : () => undefined),
    });
    if (status !== 200) {
      throw errors.download({ host: new URL(url).host, status });
    }
  }
}

/** Returns the folder of a local registry, whose address may be that of its index. */
const folderOf = (address: string): string =>
  address.endsWith('.json') ? dirname(address).replace(/\/\.claude-plugin$/, '') : address;
