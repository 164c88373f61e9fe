import { compileRegex, type Pattern } from 'svc/query';
import { type TemplateFunction, templateFunction } from 'svc/template';

import type { WorkingLine } from '../lines/working-line.ts';
import { mathFunctions } from './math-functions.ts';
import { onTexts, text, textFunctions } from './text-functions.ts';
import { timeFunctions } from './time-functions.ts';

const maxPatterns = 64;

/**
 * Functions of `line_format` and `label_format` beyond those of every template. They apply to the
 * line being processed at the time of the call.
 */
export const formatFunctions = (
  work: () => WorkingLine,
  now: () => number,
): ReadonlyMap<string, TemplateFunction> =>
  new Map([
    ['__line__', templateFunction(0, 0, () => work().line)],
    ...textFunctions,
    ...regexFunctions(),
    ...mathFunctions,
    ...timeFunctions(work, now),
  ]);

/** Functions with patterns, which are kept: a template comes with the same ones for each line. */
function regexFunctions(): readonly (readonly [string, TemplateFunction])[] {
  const patterns = new Map<string, Pattern>();
  const patternOf = (source: string): Pattern => {
    const known = patterns.get(source);
    if (known !== undefined) {
      return known;
    }
    if (patterns.size >= maxPatterns) {
      patterns.clear();
    }
    const made = compileRegex(source);
    patterns.set(source, made);
    return made;
  };
  const regexReplaced = (
    source: string,
    subject: string,
    replacement: string,
    room: number,
  ): string => {
    // Each reference can add the whole text once more, each match the rest of the replacement.
    const references = replacement.split('$').length - 1;
    if ((subject.length + 1) * replacement.length + references * subject.length > 16 * room) {
      throw new Error(`the text could grow past ${room} characters`);
    }
    return patternOf(source).replaceAll(subject, replacement);
  };
  const counted = (source: string, subject: string): bigint =>
    BigInt(
      patternOf(source).replaceAll(subject, '\0').split('\0').length - subject.split('\0').length,
    );
  return [
    [
      'regexReplaceAll',
      templateFunction(3, 3, ([source, subject, to], room) =>
        regexReplaced(text(source), text(subject), text(to), room),
      ),
    ],
    [
      'regexReplaceAllLiteral',
      templateFunction(3, 3, ([source, subject, to], room) =>
        regexReplaced(text(source), text(subject), text(to).replaceAll('$', '$$$$'), room),
      ),
    ],
    ['count', onTexts(2, (source, subject) => counted(source, subject))],
  ];
}
