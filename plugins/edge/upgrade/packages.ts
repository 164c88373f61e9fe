import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

import { compare } from 'semver';

import type { ByteRange } from './byte-range.ts';
import { errors } from './errors.ts';

/** Agent for one architecture: `svc-<version>-<arch>`, with `.sha256` and, optionally, `.sig`. */
export interface AgentPackage {
  readonly file: string;
  readonly version: string;
  readonly arch: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly signature: string | undefined;
}

export interface OpenPackage {
  readonly sizeBytes: number;
  readonly sha256: string;
  /** All of it, or a part. */
  read(range: ByteRange | undefined): AsyncIterable<Uint8Array>;
}

/** The running program, under the name that its package would have. */
export interface OwnPackage {
  readonly file: string;
  readonly path: string;
}

/** `mark` is another when the file is. */
interface PlainFile {
  readonly path: string;
  readonly size: number;
  readonly mark: string;
}

const form = /^svc-(?:v?)(\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[0-9A-Za-z.]{1,64})?)-([a-z0-9_]{1,20})$/;
const largest = 512 * 1024 * 1024;
const maxShown = 20;

/** Packages that an operator has put into `<data>/agent-packages`. */
export class Packages {
  readonly #folder: string;
  readonly #own: OwnPackage | undefined;
  /** A large file is read once, however many ask for it, and again when it is another. */
  readonly #digests = new Map<
    string,
    { readonly mark: string; readonly sha256: Promise<string> }
  >();

  /** `own`: a program that is its own package, for when the folder has none. */
  constructor(folder: string, own?: OwnPackage) {
    this.#folder = folder;
    this.#own = own;
  }

  /** Returns the complete packages for each architecture; an incomplete one counts as missing. */
  async ofVersion(version: string): Promise<readonly AgentPackage[]> {
    const wanted = version.replace(/^v/, '');
    const names = [...(await this.#names()), ...(this.#own ? [this.#own.file] : [])].map((name) =>
      form.exec(name)!,
    );
    const arches = new Set(names.filter(([, its]) => its === wanted).map(([, , arch]) => arch!));
    const found = await Promise.allSettled([...arches].map((arch) => this.find(wanted, arch)));
    return found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** Throws not_found, with what there is instead, or conflict when the files do not fit each other. */
  async find(version: string, arch: string): Promise<AgentPackage> {
    const wanted = version.replace(/^v/, '');
    const file = await this.#fileOf(wanted, arch);
    const plain = await this.#plainFile(file);
    if (plain.path === this.#own?.path) {
      return {
        file,
        version: wanted,
        arch,
        sizeBytes: plain.size,
        sha256: await this.#digestOf(file, plain),
        signature: undefined,
      };
    }
    const stated = /^([0-9a-f]{64})\b/i
      .exec((await textOf(`${plain.path}.sha256`)) ?? '')?.[1]
      ?.toLowerCase();
    if (stated === undefined) {
      throw errors.no_sha256({ file });
    }
    if ((await this.#digestOf(file, plain)) !== stated) {
      throw errors.sha256_mismatch({ file });
    }
    return {
      file,
      version: wanted,
      arch,
      sizeBytes: plain.size,
      sha256: stated,
      signature: await textOf(`${plain.path}.sig`),
    };
  }

  async open(file: string): Promise<OpenPackage> {
    const plain = await this.#plainFile(file);
    return {
      sizeBytes: plain.size,
      sha256: await this.#digestOf(file, plain),
      read: (range) =>
        createReadStream(
          plain.path,
          range && { start: range.first, end: range.last },
        ) as AsyncIterable<Uint8Array>,
    };
  }

  async #fileOf(version: string, arch: string): Promise<string> {
    const all = await this.#names();
    const file = all.find((name) => {
      const [, itsVersion, itsArch] = form.exec(name)!;
      return itsVersion === version && itsArch === arch;
    });
    if (file === undefined && this.#own?.file === `svc-${version}-${arch}`) {
      return this.#own.file;
    }
    if (file === undefined) {
      const there = all
        .toSorted((a, b) => compare(form.exec(b)![1]!, form.exec(a)![1]!))
        .slice(0, maxShown);
      throw errors.no_package_for({
        version,
        arch,
        folder: this.#folder,
        detail: there.length === 0 ? 'is none at all' : `are ${there.join(', ')}`,
      });
    }
    return file;
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => form.test(name));
    } catch {
      return [];
    }
  }

  /** A plain file of this folder, not a link that leads out of it. */
  async #plainFile(file: string): Promise<PlainFile> {
    const path = join(this.#folder, file);
    if (file === this.#own?.file && !(await this.#names()).includes(file)) {
      const { size, mtimeMs, ino } = await lstat(await realpath(this.#own.path));
      return { path: this.#own.path, size, mark: `${size} ${mtimeMs} ${ino}` };
    }
    const stat = form.test(file) ? await lstat(path).catch(() => undefined) : undefined;
    if (
      !stat?.isFile() ||
      !(await realpath(path)).startsWith((await realpath(this.#folder)) + sep)
    ) {
      throw errors.no_package({ file: file.slice(0, 80) });
    }
    if (stat.size > largest || stat.size === 0) {
      throw errors.package_size({ file, count: stat.size, largest });
    }
    return { path, size: stat.size, mark: `${stat.size} ${stat.mtimeMs} ${stat.ino}` };
  }

  #digestOf(file: string, { path, mark }: PlainFile): Promise<string> {
    const known = this.#digests.get(file);
    if (known?.mark === mark) {
      return known.sha256;
    }
    const sha256 = digest(path);
    this.#digests.set(file, { mark, sha256 });
    // Read again for the next request.
    sha256.catch(() => this.#digests.delete(file));
    return sha256;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  return stat?.isFile() && stat.size <= 4_096 ? (await readFile(path, 'utf8')).trim() : undefined;
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Uint8Array);
  }
  return hash.digest('hex');
}
