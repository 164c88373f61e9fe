import { compileRegex } from 'svc/query';

import { isLabelName } from '../lines/label-name.ts';
import type { StageContext, StageRun } from '../lines/stage.ts';
import { capturePattern } from './line-pattern.ts';

/** `| regexp`: a label for every named group. */
export function regexpParser(text: string, { wanted }: StageContext): StageRun {
  const names = [...text.matchAll(/\(\?P?<([^>]+)>/g)].map(([, name]) => name!);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) {
    throw new Error(`duplicate extracted label name '${twice}'`);
  }
  const pattern = compileRegex(text);
  const groups = pattern.groupNames.flatMap((name, index) =>
    name === undefined ? [] : [{ name, index }],
  );
  if (groups.length === 0) {
    throw new Error('at least one named capture must be supplied');
  }
  const bad = groups.find(({ name }) => !isLabelName(name));
  if (bad !== undefined) {
    throw new Error(`invalid extracted label name '${bad.name}'`);
  }
  return (work) => {
    const found = pattern.exec(work.line);
    for (const { name, index } of found === undefined ? [] : groups) {
      const label = work.nameFor(name);
      if (
        label !== undefined &&
        found![index] !== undefined &&
        (wanted === undefined || wanted.has(label))
      ) {
        work.add(label, found![index]);
      }
    }
    return true;
  };
}

/** `| pattern`: a label for every named capture. */
export function patternParser(text: string, { wanted }: StageContext): StageRun {
  const { names, capture } = capturePattern(text);
  return (work) => {
    capture(work.line, (index, value) => {
      const label = work.nameFor(names[index]!);
      if (label !== undefined && (wanted === undefined || wanted.has(label))) {
        work.add(label, value);
      }
    });
    return true;
  };
}

const colour =
  // eslint-disable-next-line no-control-regex -- the escape character is what is looked for
  /[\x1b\x9b][[\]()#;?]*(?:(?:[a-zA-Z0-9]{0,64}(?:;[a-zA-Z0-9]{0,64}){0,16})?\x07|(?:\d{1,4}(?:;\d{0,4}){0,16})?[0-9A-PRZcf-ntqry=><~])/g;

/** Implements `| decolorize`: removes the colour codes of terminals. */
export const decolorize: StageRun = (work) => {
  if (work.line.includes('\x1b') || work.line.includes('\x9b')) {
    work.line = work.line.replace(colour, '');
  }
  return true;
};
