import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSea } from 'node:sea';

import type { ForeignPrograms, ProgramOwner } from 'svc/contracts/programs';
import { type Handle, type Ids, SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import type { Exported } from './archive-export.ts';
import type { HtmlText } from './html.ts';
import { pagesMark } from './pages-mark.ts';
import type { Parsed } from './parse-file.ts';

export interface ParserParts {
  readonly programs: Handle<ForeignPrograms>;
  readonly owner: ProgramOwner;
  readonly ids: Ids;
  /** Text of the program that parses. */
  readonly program: string;
  readonly timeoutMs: number;
}

const atOnce = 2;
const maxWaiting = 8;
const heapMb = 256;
/** All memory that the process may write to, beyond its heap: what streams of a PDF unpack to. */
const maxBytes = 1024 * 1024 * 1024;
const maxOutput = 16 * 1024 * 1024;

/**
 * Reads files of foreign formats in a process of its own, which may read that one file and nothing else, for some seconds and with
 * some memory: a bomb takes that process with it. What it leaves on disk is gone when it has ended, or at the next start.
 */
export class Parser {
  readonly #parts: ParserParts;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(parts: ParserParts) {
    this.#parts = parts;
  }

  /** Removes what a killed svc has left behind. */
  async clear(): Promise<void> {
    for (const name of await readdir(await this.#folder())) {
      if (name.startsWith('upload-')) {
        await rm(join(await this.#folder(), name), { force: true });
      }
    }
  }

  /** Extracts the text of a PDF or a Word document; throws one sentence if there is none. */
  async textOf(
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly title: string | undefined }> {
    const { text, title, documents } = await this.#parsed(bytes, signal);
    if (documents !== undefined) {
      throw errors.is_export();
    }
    if (text === undefined) {
      throw refused('the file has no text');
    }
    return { text, title };
  }

  /** Reads the documents of an export; throws one sentence if it is none. */
  async exportOf(bytes: Uint8Array, signal: AbortSignal): Promise<Exported> {
    const { documents, skipped = 0 } = await this.#parsed(bytes, signal);
    if (documents === undefined) {
      throw errors.no_export();
    }
    return { documents, skipped };
  }

  /** Converts pages of a website, in their order. */
  async pagesOf(pages: readonly string[], signal: AbortSignal): Promise<readonly HtmlText[]> {
    const bytes = Buffer.from(pagesMark + JSON.stringify(pages));
    return (await this.#parsed(bytes, signal)).documents ?? [];
  }

  async #parsed(bytes: Uint8Array, signal: AbortSignal): Promise<Parsed> {
    await this.#turn(signal);
    const file = join(await this.#folder(), `upload-${this.#parts.ids.uuid()}`);
    try {
      await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
      const parsed = await this.#run(file, signal);
      if (parsed.refusal !== undefined) {
        throw refused(parsed.refusal);
      }
      return parsed;
    } finally {
      await rm(file, { force: true });
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #run(file: string, signal: AbortSignal): Promise<Parsed> {
    const { programs, owner, timeoutMs } = this.#parts;
    if (!programs.available) {
      throw errors.no_parser();
    }
    const script = await this.#script();
    const permission = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission';
    const flags = [
      permission,
      '--disable-warning=ExperimentalWarning',
      `--max-old-space-size=${heapMb}`,
      ...[script, file].map((path) => `--allow-fs-read=${path}`),
    ];
    const command = isSea()
      ? [process.execPath, script, file]
      : [process.execPath, ...flags, script, file];
    const env = isSea()
      ? {
          SVC_ROLE: 'child',
          NODE_OPTIONS: [...flags, `--allow-fs-read=${process.execPath}`]
            .map((flag) => JSON.stringify(flag))
            .join(' '),
        }
      : {};
    const limiter = programs.get().find('prlimit');
    const [program, ...args] =
      limiter === undefined ? command : [limiter, `--data=${maxBytes}`, '--core=0', ...command];
    const { code, output, cut } = await programs
      .get()
      .run(owner, program!, args, { env, timeoutMs, maxBytes: maxOutput, signal });
    if (cut === undefined && code === 0) {
      return JSON.parse(Buffer.from(output).toString('utf8')) as Parsed;
    }
    const why =
      cut === 'time'
        ? `takes longer than ${timeoutMs / 1000} s to read`
        : cut === 'size'
          ? 'has more text than a document can have'
          : 'needs more memory than allowed';
    return {
      refusal: `the file ${why}; split it, or save it again with fewer pictures and fonts`,
    };
  }

  /** Named after its content, so that another version is another file. */
  async #script(): Promise<string> {
    const { program } = this.#parts;
    const file = join(
      await this.#folder(),
      `parser-${createHash('sha256').update(program).digest('hex').slice(0, 16)}.cjs`,
    );
    if ((await readFile(file, 'utf8').catch(() => undefined)) !== program) {
      const draft = `${file}.${this.#parts.ids.uuid()}`;
      await writeFile(draft, program, { mode: 0o500 });
      await rename(draft, file);
    }
    return file;
  }

  async #folder(): Promise<string> {
    const folder = join(this.#parts.owner.dataDir, 'parser');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // The permission model of node compares names and knows no links.
    return await realpath(folder);
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#running >= atOnce) {
      if (this.#waiting.length >= maxWaiting) {
        throw errors.too_many_reads({ retryAfterSeconds: 10 });
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
    if (signal.aborted) {
      this.#running -= 1;
      this.#waiting.shift()?.();
      throw errors.upload_cancelled();
    }
  }
}

const refused = (sentence: string): SvcError =>
  new SvcError('invalid_argument', sentence, { reason: 'knowledge.file_refused' });
