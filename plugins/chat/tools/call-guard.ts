import { askKey } from '../journal/citations.ts';
import type { Call, RunState } from '../journal/journal.ts';

const sameCallsAllowed = 2;
const callsOfOneTool = 10;
const subAgentsOfOneRun = 4;
const failuresInARow = 3;

/** Why a call is answered without being made, in words for the model; undefined lets it pass on to the gate. */
export function objection(state: RunState, call: Call): string | undefined {
  if (call.args === undefined) {
    return 'The arguments are not one JSON object. Write them again as an object that fits the schema of the tool.';
  }
  const all = state.turns.flatMap(({ calls }) => calls);
  // Those planned in the same turn count, too: a turn may plan any number at once.
  const earlier = all
    .slice(
      0,
      all.findIndex(({ id }) => id === call.id),
    )
    .filter(({ tool }) => tool === call.tool);
  const same = canonical(call.args);
  if (
    earlier.filter(({ args }) => args !== undefined && canonical(args) === same).length >=
    sameCallsAllowed
  ) {
    return `${call.tool} was called with these arguments ${sameCallsAllowed} times already and its answers stand above. Call it with others, use another tool, or answer with what you know.`;
  }
  if (earlier.length >= (call.tool === askKey ? subAgentsOfOneRun : callsOfOneTool)) {
    return `${call.tool} was called ${earlier.length} times in this run, which is as often as it may be. Answer with what you know.`;
  }
  const last = earlier.slice(-failuresInARow);
  if (
    last.length === failuresInARow &&
    last.every(({ outcome }) => outcome?.status === 'error' || outcome?.status === 'timeout')
  ) {
    return `${call.tool} has failed ${failuresInARow} times in a row; it is left alone for the rest of this run.`;
  }
  return undefined;
}

/** One text for all ways to write the same arguments. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/**
 * Matches arguments that tell tools where to connect, `base_url` and `targetHost` among them; those
 * of queries contain host names too, and connect to nothing.
 */
const placeName =
  /(?:^|_)(?:hosts?|hostnames?|urls?|uris?|ips?|servers?|address(?:es)?|endpoints?|resolvers?|proxy|webhook)$/i;
/** The same where they look like an address; else they name services, files or rules. */
const perhapsPlace =
  /(?:^|_)(?:names?|targets?|domains?|link|href|site|page|source|callback|destination|remote|to)$/i;
const looksLikeAddress = /^[^\s/]+\.[^\s.]+|:|^\[/;
const isUrl = /^(?:[a-z][a-z0-9+.-]{0,30}:\/\/|(?:https?|wss?|ftps?):|\/\/)/i;
/** A word of any text that could lead somewhere: an address with a scheme, a name with a dot, an account at a host, numbers of a machine. */
const perhapsAddress =
  /^(?:[a-z][a-z0-9+.-]{0,30}:\S|\/\/|[^\s/@:]+\.[a-z][a-z0-9-]*(?:[:/.]|$)|[^\s@]+@|\d{1,3}(?:\.\d{1,3}){3}|\[?[0-9a-f]*:[0-9a-f]*:)/i;
const deepest = 32;

export interface Vouching {
  /** Texts that people have written in the session. */
  readonly words: readonly string[];
  /** `host` or `*.domain`, of the settings. */
  readonly known: readonly string[];
  /**
   * True if it is unknown by which argument the tool connects: each word of each of them may be an
   * address.
   */
  readonly anywhere?: boolean;
}

/**
 * The first address among the arguments that no person has named. A run that has read text from outside takes addresses from people
 * alone: text can spell an address in too many ways to look for it there.
 */
export function strangeAddress(
  args: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
  { words, known, anywhere = false }: Vouching,
): string | undefined {
  const places = [...addressesIn(withoutOwn(args, schema), anywhere)];
  if (places.length === 0) {
    return undefined;
  }
  const named = new Set(words.flatMap((text) => wordsOf(text).map(hostOf)));
  return places.find((place) => {
    const host = hostOf(place);
    return (
      !named.has(host) &&
      !known.some((one) =>
        one.startsWith('*.') ? host.endsWith(one.slice(1).toLowerCase()) : host === hostOf(one),
      )
    );
  });
}

/**
 * Removes params that a tool checks itself: `x-checked-address` in its schema states that it
 * refuses addresses it has not found.
 */
function withoutOwn(
  args: Readonly<Record<string, unknown>>,
  { properties = {} }: { readonly properties?: unknown },
): Readonly<Record<string, unknown>> {
  const fields = properties as Readonly<Record<string, { readonly 'x-checked-address'?: boolean }>>;
  return Object.fromEntries(
    Object.entries(args).filter(([name]) => fields[name]?.['x-checked-address'] !== true),
  );
}

function* addressesIn(value: unknown, anywhere: boolean, name = '', depth = 0): Iterable<string> {
  if (typeof value === 'string') {
    const field = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');
    if (
      value !== '' &&
      (placeName.test(field) ||
        isUrl.test(value.trim()) ||
        (perhapsPlace.test(field) && looksLikeAddress.test(value)))
    ) {
      yield value;
    } else if (anywhere) {
      yield* wordsOf(value.replaceAll('\\', '/')).filter((word) => perhapsAddress.test(word));
    }
  } else if (typeof value === 'object' && value !== null && depth < deepest) {
    for (const [key, inner] of Object.entries(value)) {
      yield* addressesIn(inner, anywhere, Array.isArray(value) ? name : key, depth + 1);
    }
  }
}

const wordsOf = (text: string): readonly string[] => text.split(/[\s"'`<>(){}|,;=]+/);

/** One spelling for all that lead to the same host. */
function hostOf(text: string): string {
  const written = text
    .trim()
    .toLowerCase()
    .replaceAll('\\', '/')
    .replace(/[?!.:]+$/, '')
    .replace(/^\/\//, 'http://');
  const url = [written, `http://${written}`, `http://[${written}]`].find(
    (each, at) => (at > 0 || isUrl.test(each)) && URL.canParse(each),
  );
  return url === undefined
    ? written
    : new URL(url.replace(/^[a-z][a-z0-9+.-]*:/, 'http:')).hostname.replace(/\.$/, '');
}
