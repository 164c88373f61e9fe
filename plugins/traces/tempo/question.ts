import { queryError } from 'svc/query';

import type {
  InstantInput,
  MetricsInput,
  SearchInput,
  TagsInput,
  TagValuesInput,
} from '../thread/contract.ts';
import type { ParameterList } from './parameter-list.ts';
import { Parameters } from './parameters.ts';

/** One call of Tempo's API, read; times in milliseconds. */
export type TempoQuestion =
  | { readonly kind: 'search'; readonly input: SearchInput }
  | { readonly kind: 'tags'; readonly input: TagsInput }
  | { readonly kind: 'values'; readonly input: TagValuesInput }
  | { readonly kind: 'range'; readonly input: MetricsInput }
  | { readonly kind: 'instant'; readonly input: InstantInput };

const hourMs = 3_600_000;
const searchMs = hourMs;
const tagsMs = 6 * hourMs;
const scopes = ['resource', 'span', 'event', 'link', 'instrumentation', 'intrinsic', 'none'];

/** Reads the parameters of calls. */
export class Reader {
  readonly #now: () => number;
  readonly #longestMs: () => number;

  constructor(now: () => number, longestMs: () => number) {
    this.#now = now;
    this.#longestMs = longestMs;
  }

  search(list: ParameterList): TempoQuestion {
    const parameters = this.#of(list);
    const [query, tags] = [parameters.text('q'), parameters.text('tags')];
    if (query !== undefined && tags !== undefined) {
      throw queryError('bad_data', "invalid tags: can't specify tags and q in the same query");
    }
    return {
      kind: 'search',
      input: {
        ...parameters.windowWithin(searchMs, this.#longestMs()),
        ...given('query', query),
        ...given('tags', tags),
        ...given('minDuration', parameters.text('minDuration')),
        ...given('maxDuration', parameters.text('maxDuration')),
        ...given('limit', parameters.count('limit')),
        ...given('spansPerSpanSet', parameters.count('spss')),
      },
    };
  }

  tags(list: ParameterList, version: 1 | 2): TempoQuestion {
    const parameters = this.#of(list);
    const scope = parameters.text('scope');
    if (scope !== undefined && !scopes.includes(scope)) {
      throw queryError('bad_data', `invalid scope: ${scope.slice(0, 100)}`);
    }
    const query = version === 2 ? given('query', parameters.text('q')) : {};
    return {
      kind: 'tags',
      input: {
        ...parameters.window(tagsMs),
        version,
        ...query,
        ...(scope !== undefined && scope !== 'none' && { scope }),
      },
    };
  }

  values(list: ParameterList, tag: string, version: 1 | 2): TempoQuestion {
    const parameters = this.#of(list);
    return {
      kind: 'values',
      input: {
        ...parameters.window(tagsMs),
        tag,
        version,
        ...(version === 2 && given('query', parameters.text('q'))),
        ...given('limit', parameters.count('limit')),
      },
    };
  }

  range(list: ParameterList): TempoQuestion {
    const parameters = this.#of(list);
    const window = parameters.windowWithin(searchMs, this.#longestMs());
    return {
      kind: 'range',
      input: {
        ...window,
        query: demanded(parameters),
        step: parameters.step(window),
        exemplars: parameters.exemplars(),
      },
    };
  }

  instant(list: ParameterList): TempoQuestion {
    const parameters = this.#of(list);
    return {
      kind: 'instant',
      input: {
        ...parameters.windowWithin(searchMs, this.#longestMs()),
        query: demanded(parameters),
      },
    };
  }

  #of(list: ParameterList): Parameters {
    return new Parameters(list, this.#now());
  }
}

/** Returns the query; some clients of metrics name it `query`. */
const demanded = (parameters: Parameters): string =>
  parameters.text('q') ?? parameters.text('query') ?? '';

const given = <K extends string, T>(key: K, value: T | undefined): { readonly [key in K]?: T } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [key in K]?: T };
