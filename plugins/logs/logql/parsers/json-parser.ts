import { isLabelName, labelNames } from '../lines/label-name.ts';
import type { StageContext, StageRun } from '../lines/stage.ts';
import type { WorkingLine } from '../lines/working-line.ts';
import type { Extraction } from '../syntax/ast.ts';
import { FieldReader } from './json-fields.ts';
import { parseJsonPath, readJsonPath } from './json-path.ts';
import { eachField, JsonFault, kindAt, skipBlank, stringValue, valueEnd } from './json-scan.ts';

export const jsonError = 'JSONParserErr';

/** `| json`: a label for every field, nested ones joined by `_`; arrays and nulls are left out. `| json a="b.c"`: just these. */
export function jsonParser(fields: readonly Extraction[], context: StageContext): StageRun {
  return fields.length === 0 ? allFields(context) : namedFields(fields);
}

function allFields({ wanted }: StageContext): StageRun {
  const reader = new FieldReader(wanted);
  return (work) => {
    try {
      reader.read(work);
    } catch (error) {
      failed(work, error);
    }
    return true;
  };
}

/** Parses a line; one that is not JSON continues, with the reason in its labels. */
function guarded(work: WorkingLine, parse: () => void): void {
  try {
    parse();
  } catch (error) {
    failed(work, error);
  }
}

function failed(work: WorkingLine, error: unknown): void {
  if (!(error instanceof JsonFault)) {
    throw error;
  }
  work.fail(jsonError, error.message);
}

function namedFields(fields: readonly Extraction[]): StageRun {
  const paths = fields.map(({ name, expression }) => {
    if (!isLabelName(name)) {
      throw new Error(`invalid extracted label name '${name}'`);
    }
    return { name, path: parseJsonPath(expression) };
  });
  return (work) => {
    const text = work.line;
    const start = skipBlank(text, 0);
    if (text === '') {
      return true;
    }
    if (text[start] !== '{' && text[start] !== '[') {
      work.fail(jsonError, '');
      return true;
    }
    guarded(work, () => {
      for (const { name, path } of paths) {
        const label = work.nameFor(name);
        if (label !== undefined) {
          work.add(label, readJsonPath(text, start, path) ?? '');
        }
      }
    });
    return true;
  };
}

/**
 * Implements `| unpack`: texts of the object become labels, and `_entry` the line; an object
 * without `_entry` was not packed and stays unchanged.
 */
export function unpackParser({ wanted }: StageContext): StageRun {
  const nameOf = labelNames();
  return (work) => {
    const text = work.line;
    const start = skipBlank(text, 0);
    if (text === '') {
      return true;
    }
    if (text[start] !== '{') {
      work.fail(jsonError, 'expecting json object, but it is not');
      return true;
    }
    guarded(work, () => {
      const found: [string, string][] = [];
      let entry: string | undefined;
      eachField(text, start, (key, keyEnd, value) => {
        const end = valueEnd(text, value);
        if (kindAt(text, value) === 'string') {
          const name = stringValue(text, key, keyEnd);
          if (name === '_entry') {
            entry = stringValue(text, value, end);
          } else {
            found.push([nameOf(name), stringValue(text, value, end)]);
          }
        }
        return end;
      });
      if (entry === undefined) {
        return;
      }
      for (const [key, value] of found) {
        const name = work.nameFor(key);
        if (name !== undefined && (wanted === undefined || wanted.has(name))) {
          work.add(name, value);
        }
      }
      work.line = entry;
    });
    return true;
  };
}
