import {
  type ErrorCode,
  type ErrorExtras,
  errorStatus,
  type MessageCode,
  SvcError,
} from './errors.ts';

/**
 * One sentence of a catalogue: its code in the table of `errorStatus`, the text with a `{name}` for each value, and an HTTP status
 * only where the table allows a second one.
 */
export type ErrorSentence = readonly [code: ErrorCode, sentence: string, status?: number];

/** An error as its catalogue declares it; `GET /docs/errors` lists those of every plugin that serves. */
export interface DeclaredError {
  /** Area and name: `device.no_device`. */
  readonly reason: MessageCode;
  readonly code: ErrorCode;
  readonly status: number;
  readonly sentence: string;
}

/** Makes one error of a catalogue; is also its declaration, so that `error.reason === errors.no_device.reason` can be asked. */
export type ErrorMaker<Text extends string = string> = DeclaredError &
  ([ValueName<Text>] extends [never]
    ? (extras?: DeclaredExtras) => SvcError
    : (values: SentenceValues<Text>, extras?: DeclaredExtras) => SvcError);

export type DeclaredExtras = Omit<ErrorExtras, 'reason' | 'status'>;

export type SentenceValues<Text extends string> = {
  readonly [Name in ValueName<Text>]: string | number;
};

type ValueName<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ValueName<Rest>
  : never;

/** Text without a brace that opens or closes nothing; `never` where there is one. */
type Balanced<Text extends string> = Text extends `${infer Before}{${infer Name}}${infer Rest}`
  ? `${Before}${Name}` extends `${string}${'{' | '}'}${string}`
    ? never
    : Balanced<Rest>
  : Text extends `${string}${'{' | '}'}${string}`
    ? never
    : string;

/** Errors of one area, by name. */
export type ErrorCatalogue = Readonly<Record<string, DeclaredError>>;

/**
 * Declares the errors of an area, each with its sentence once, in the `errors.ts` of a plugin, a
 * library or a module of core. A sentence names cause and remedy; its values are typed by the names
 * in braces.
 *
 * @example
 * export const errors = defineErrors('device', {
 *   no_device: ['not_found', 'Device {id} does not exist.'],
 * });
 * throw errors.no_device({ id: 7 }, { cause });
 */
export function defineErrors<const Sentences extends Readonly<Record<string, ErrorSentence>>>(
  area: string,
  sentences: Sentences & {
    readonly [Name in keyof Sentences]: readonly [ErrorCode, Balanced<Sentences[Name][1]>, number?];
  },
): { readonly [Name in keyof Sentences]: ErrorMaker<Sentences[Name][1]> } {
  const makers = Object.entries<ErrorSentence>(sentences).map(
    ([name, [code, sentence, status]]) => [
      name,
      errorMaker({
        reason: `${area}.${name}`,
        code,
        status: status ?? errorStatus[code],
        sentence,
      }),
    ],
  );
  return Object.freeze(Object.fromEntries(makers));
}

function errorMaker(declared: DeclaredError): ErrorMaker {
  const { reason, code, status, sentence } = declared;
  const make = (values: object, extras?: DeclaredExtras): SvcError =>
    new SvcError(code, worded(sentence, values), { ...extras, reason, status });
  const maker = sentence.includes('{') ? make : (extras?: DeclaredExtras) => make({}, extras);
  return Object.freeze(Object.assign(maker, declared)) as ErrorMaker;
}

/** A value that is a sentence loses its full stop where the sentence around it goes on, but not in brackets. */
const worded = (sentence: string, values: object): string =>
  sentence.replaceAll(/\{(\w+)\}(?=(.?))/gs, (_, name: string, next: string) => {
    const value = String((values as Readonly<Record<string, string | number>>)[name]);
    return next === '' || next === ')' ? value : value.replace(/(?<= .*[^.])\.$/s, '');
  });
