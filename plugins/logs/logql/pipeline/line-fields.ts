import type { Labels } from 'svc/query';

import { jsonParser } from './json-parser.ts';
import { logfmtParser } from './logfmt-parser.ts';
import type { StageContext } from './stage.ts';
import { WorkingLine } from './working-line.ts';

const context: StageContext = { wanted: undefined, now: () => 0 };

/** The fields that lines have in themselves, where they are JSON or else logfmt. */
export class LineFields {
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
