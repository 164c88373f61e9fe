import { styleText } from 'node:util';

type Brush = (text: string) => string;

/** Meaning, not colour: what each looks like is decided here. */
export interface Paint {
  readonly good: Brush;
  readonly warn: Brush;
  readonly bad: Brush;
  readonly strong: Brush;
  readonly faint: Brush;
}

type Format = Parameters<typeof styleText>[0];

/** Colours only where a person looks who has not declined them. */
export function paintFor(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Paint {
  const wanted =
    stream.isTTY === true &&
    (environment['NO_COLOR'] ?? '') === '' &&
    environment['TERM'] !== 'dumb';
  const brush =
    (format: Format): Brush =>
    (text) =>
      wanted ? styleText(format, text, { validateStream: false }) : text;
  return {
    good: brush('green'),
    warn: brush('yellow'),
    bad: brush('red'),
    strong: brush('bold'),
    faint: brush('gray'),
  };
}
