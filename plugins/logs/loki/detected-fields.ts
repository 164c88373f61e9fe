import type { Labels } from 'svc/query';

import type { FoundLine } from '../logql/index.ts';
import type { StageContext } from '../logql/lines/stage.ts';
import { WorkingLine } from '../logql/lines/working-line.ts';
import { jsonParser } from '../logql/parsers/json-parser.ts';
import { logfmtParser } from '../logql/parsers/logfmt-parser.ts';
import { parseByteSize } from '../logql/syntax/byte-size.ts';

type FieldType = 'int' | 'float' | 'boolean' | 'duration' | 'bytes' | 'string';

interface Field {
  type: FieldType | undefined;
  readonly parsers: Set<string>;
  readonly values: Set<string>;
}

const maxValues = 10_000;

/** Fields of lines: in their metadata, and in the text if it is JSON or logfmt. */
export class DetectedFields {
  readonly #fields = new Map<string, Field>();
  readonly #ofLine = new LineFields();

  addAll(lines: readonly FoundLine[]): void {
    for (const { line, beside } of lines) {
      this.#add(beside?.metadata ?? []);
      this.#add(beside?.parsed ?? []);
      const { parser, fields } = this.#ofLine.of(line);
      this.#add(fields, parser);
    }
  }

  list(limit: number): readonly object[] {
    return [...this.#fields]
      .slice(0, limit)
      .map(([label, { type = 'string', parsers, values }]) => ({
        label,
        type,
        cardinality: values.size,
        parsers: parsers.size === 0 ? null : [...parsers],
      }));
  }

  values(label: string, limit: number): readonly string[] {
    return [...(this.#fields.get(label)?.values ?? [])].slice(0, limit);
  }

  #add(labels: readonly string[], parser?: string): void {
    for (let i = 0; i < labels.length; i += 2) {
      const [name, value] = [labels[i]!, labels[i + 1]!];
      if (name.startsWith('__error')) {
        continue;
      }
      const field = this.#fields.get(name) ?? {
        type: undefined,
        parsers: new Set(),
        values: new Set(),
      };
      this.#fields.set(name, field);
      if (parser !== undefined) {
        field.parsers.add(parser);
      }
      if (field.values.size < maxValues && !field.values.has(value)) {
        field.values.add(value);
        const type = typeOf(value);
        field.type = field.type === undefined || field.type === type ? type : 'string';
      }
    }
  }
}

function typeOf(value: string): FieldType {
  if (/^[-+]?\d{1,18}$/.test(value)) {
    return 'int';
  }
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(value)) {
    return 'float';
  }
  if (value === 'true' || value === 'false') {
    return 'boolean';
  }
  return isDuration(value) ? 'duration' : parseByteSize(value) !== undefined ? 'bytes' : 'string';
}

function isDuration(value: string): boolean {
  return /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(value);
}

const context: StageContext = { wanted: undefined, now: () => 0 };

/** The fields that lines have in themselves, where they are JSON or else logfmt. */
class LineFields {
  readonly #work = new WorkingLine();
  readonly #json = jsonParser([], context);
  readonly #logfmt = logfmtParser({ strict: false, keepEmpty: false, fields: [] }, context);

  of(line: string): { readonly parser: 'json' | 'logfmt'; readonly fields: Labels } {
    this.#work.start(line, 0, 0, [], undefined);
    this.#json(this.#work);
    if (this.#work.error === '') {
      return { parser: 'json', fields: this.#work.flat() };
    }
    this.#work.start(line, 0, 0, [], undefined);
    this.#logfmt(this.#work);
    return { parser: 'logfmt', fields: this.#work.byOrigin().parsed };
  }
}
