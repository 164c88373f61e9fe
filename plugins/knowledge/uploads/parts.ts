import { BadZip, ZipArchive, type ZipEntry, type ZipProblem } from 'svc/zip';

const maxParts = 2_000;
const maxBytes = 48 * 1024 * 1024;

/** Why a file cannot be a document, for whoever uploaded it. */
export class ParseRefusal extends Error {
  override readonly name = 'ParseRefusal';
}

/** The parts of a document of Word, read one by one: no more of them, and no more bytes, than a document has. */
export class Parts {
  readonly #zip: ZipArchive;
  readonly #entries: ReadonlyMap<string, ZipEntry>;
  #unpacked = 0;

  constructor(bytes: Buffer) {
    this.#zip = reading(() => new ZipArchive(bytes));
    const { entries } = this.#zip;
    if (entries.length > maxParts) {
      throw new ParseRefusal(`the file has ${entries.length} parts, which no document has`);
    }
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    if (this.#entries.size < entries.length) {
      throw new ParseRefusal('the file has two parts of one name');
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Returns the text of a part; undefined if there is none of that name. */
  text(name: string): string | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      return undefined;
    }
    this.#unpacked += entry.size;
    if (this.#unpacked > maxBytes) {
      throw new ParseRefusal('the file unpacks to more than a document can be');
    }
    const bytes = reading(() => this.#zip.read(entry));
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw new ParseRefusal(`the part ${name} of the file is damaged: it is not UTF-8`);
    }
  }
}

export const sentences: Readonly<Record<ZipProblem, string>> = {
  'cut-off': 'the file is cut off: its end is missing',
  damaged: 'the file is damaged, or its parts do not have the size that it declares',
  zip64: 'the file is larger than a document can be',
  locked: 'the file is encrypted; remove its password and upload it again',
  method: 'the file has a part that is packed in another way than deflate',
  bomb: 'the file has two parts in one place, as a bomb has',
};

function reading<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof BadZip ? new ParseRefusal(sentences[error.problem]) : error;
  }
}
