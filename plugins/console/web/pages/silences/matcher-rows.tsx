import { useData } from '../../client/data.ts';
import { silences as text } from '../../text/english/alerting/silences.ts';
import { say } from '../../text/words.ts';
import { Button } from '../../kit/parts.tsx';
import { lineOf, type Matcher, matcherOperators } from './silence.ts';

interface Known {
  readonly name: string;
  readonly values: readonly {
    readonly value: string;
    readonly firing_now: number;
    readonly fired_last_24h: number;
  }[];
}

interface MatcherRowsProps {
  readonly value: readonly Matcher[];
  readonly onChange: (matchers: readonly Matcher[]) => void;
}

const mostOffered = 8;

/** Matchers, a row each, chosen from the labels of what fires and fired. */
export function MatcherRows({ value, onChange }: MatcherRowsProps) {
  const { value: known } = useData<{ readonly items: readonly Known[] }>('/alerts/silences/labels');
  const rules = useData<{ readonly items: readonly { readonly rule_key: string }[] }>(
    '/alert-rules',
    { query: { limit: 200 } },
  );
  const labels = known?.items ?? [];
  const put = (at: number, changes: Partial<Matcher>): void =>
    onChange(value.with(at, { ...value[at]!, ...changes }));
  const valuesOf = (name: string): readonly string[] => [
    ...new Set([
      ...(labels.find((one) => one.name === name)?.values ?? []).map((one) => one.value),
      ...(name === 'rule' ? (rules.value?.items ?? []).map(({ rule_key: key }) => key) : []),
    ]),
  ];
  return (
    <fieldset class="matcher-rows">
      <legend>{text.matchers}</legend>
      {value.map((one, at) => (
        <div key={at}>
          <input
            class="mono"
            aria-label={say(text.matcherName, { number: at + 1 })}
            list="matcher-names"
            value={one.name}
            onInput={(event) => put(at, { name: event.currentTarget.value })}
          />
          <select
            aria-label={say(text.matcherOp, { number: at + 1 })}
            value={one.op}
            onChange={(event) => put(at, { op: event.currentTarget.value as Matcher['op'] })}
          >
            {matcherOperators.map((op) => (
              <option key={op} value={op} selected={op === one.op}>
                {op}
              </option>
            ))}
          </select>
          <input
            class="mono"
            aria-label={say(text.matcherValue, { number: at + 1 })}
            list={`matcher-values-${at}`}
            value={one.value}
            onInput={(event) => put(at, { value: event.currentTarget.value })}
          />
          <datalist id={`matcher-values-${at}`}>
            {valuesOf(one.name).map((own) => (
              <option key={own} value={own} />
            ))}
          </datalist>
          <Button
            kind="quiet"
            icon="close"
            label={say(text.removeMatcher, { number: at + 1 })}
            disabled={value.length === 1}
            onClick={() => onChange(value.toSpliced(at, 1))}
          />
        </div>
      ))}
      <datalist id="matcher-names">
        {labels.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Button icon="plus" onClick={() => onChange([...value, { name: '', op: '=', value: '' }])}>
        {text.addMatcher}
      </Button>
      <Offers labels={labels} value={value} onChange={onChange} />
    </fieldset>
  );
}

/** Labels that a silence is seldom about, since every incident has them. */
const seldom: ReadonlySet<string> = new Set(['scope_type', 'scope_id', 'edge_id']);

function Offers({
  labels,
  value,
  onChange,
}: MatcherRowsProps & { readonly labels: readonly Known[] }) {
  const chosen = new Set(value.map(lineOf));
  const offers = labels
    .filter(({ name }) => !seldom.has(name))
    .flatMap(({ name, values }) =>
      values.map((one) => ({ ...one, matcher: { name, op: '=', value: one.value } as Matcher })),
    )
    .filter(({ matcher }) => !chosen.has(lineOf(matcher)))
    .toSorted((a, b) => b.firing_now - a.firing_now || b.fired_last_24h - a.fired_last_24h)
    .slice(0, mostOffered);
  const take = (matcher: Matcher): void =>
    onChange([...value.filter((one) => one.value !== ''), matcher]);
  return offers.length === 0 ? null : (
    <div class="offers">
      <p class="hint">{text.offers}</p>
      {offers.map(({ matcher, firing_now: now, fired_last_24h: past }) => (
        <button key={lineOf(matcher)} type="button" class="button" onClick={() => take(matcher)}>
          <code class="cut">{lineOf(matcher)}</code>
          <span class="soft">{say(text.offered, { now, past })}</span>
        </button>
      ))}
    </div>
  );
}
