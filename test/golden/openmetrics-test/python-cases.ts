import { read } from './reading.ts';

export interface JudgedCases {
  /** Error of each text, undefined if there is none. */
  readonly taken: readonly (string | undefined)[];
  readonly refused: readonly (string | undefined)[];
  /** Texts that this reader refuses although it need not. */
  readonly semantic: readonly string[];
}

/** Line from which on the list of refused texts is about meaning rather than syntax. */
const fromHere = '# Exemplars on unallowed samples.';
/** Prometheus reads these, and what is said of a metric twice or late does not harm it. */
const alsoTaken = [
  /^a\{a="1",b="2",\} 1\n/,
  /^# UNIT a_seconds seconds \n/,
  /^# TYPE x_u (?:info|stateset)\n/,
  /^# (?:HELP|TYPE) a .*\na 1\n# (?:TYPE|HELP) a/,
  /^# TYPE a_s gauge\na_s 1\n# UNIT/,
  /^# (?:HELP|UNIT) (a|a_s) (.*)\n# (?:HELP|UNIT) \1 \2\n/,
  /^a\{a="1",a="1"\} 1\n/,
  /^a\{a=" # ",a=" # "\} 1\n/,
  // Longer than 128 characters: the exemplar is left out, the sample is kept.
  /# \{a="\d{100,}"\} 1 1\n/,
];

export function judgedPython(source: string): JudgedCases {
  const refusing = source.indexOf('def test_invalid_input');
  const valid = [
    ...source
      .slice(0, refusing)
      .matchAll(/text_string_to_metric_families\("""((?:(?!""")[\s\S])*)"""\)/g),
  ].map(([, text]) => pythonText(text!));
  const invalid = source.slice(refusing);
  const [written, meant] = [
    invalid.slice(0, invalid.indexOf(fromHere)),
    invalid.slice(invalid.indexOf(fromHere)),
  ].map((part) => casesIn(part));
  return {
    taken: valid
      .filter((text) => !isNative(text) && !text.includes(beyondTime))
      .map((text) => problemOf(text)),
    refused: written!
      .filter((text) => !alsoTaken.some((form) => form.test(text)))
      .map((text) =>
        typeof read(text) === 'string' ? undefined : `${JSON.stringify(text)}: taken`,
      ),
    semantic: meant!.filter((text) => typeof read(text) === 'string'),
  };
}

function problemOf(text: string): string | undefined {
  const found = read(text);
  return typeof found === 'string' ? `${JSON.stringify(text)}: ${found}` : undefined;
}

/** Seconds that no calendar has: there a number like any other. */
const beyondTime = '12345678901234567890';

/** Native histograms are in no released version of the format. */
const isNative = (text: string): boolean => /\{count:/.test(text);

/** `('…'\n '…'),`: each a text, perhaps in parts. */
const casesIn = (part: string): string[] =>
  [...part.matchAll(/^ +\(('(?:\\.|[^'\\])*'(?:\s+'(?:\\.|[^'\\])*')*)\),/gm)].map(([, parts]) =>
    [...parts!.matchAll(/'((?:\\.|[^'\\])*)'/g)].map(([, text]) => pythonText(text!)).join(''),
  );

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\n': '' };

const pythonText = (text: string): string =>
  text.replaceAll(
    /\\([\s\S])/g,
    (whole, char: string) => escapes[char] ?? ('\\\'"'.includes(char) ? char : whole),
  );
