import { useState } from 'preact/hooks';

import type { ApiError } from '../../client/api.ts';
import { useData } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { logs as text } from '../../text/english/watch/logs.ts';
import { Typed } from '../../kit/form.tsx';
import { Head } from '../../kit/parts.tsx';
import { QueryField } from '../../kit/query-field.tsx';
import { LogLines } from './lines.tsx';

const everything = '{service_name=~".+"}';

/** Lines of everything that sends logs: by a query, or by a service and a word. */
export default function Logs() {
  const [q, setQ] = useParam('q', everything);
  const [error, setError] = useState<ApiError>();
  const services = useData<{ data: readonly string[] }>('/logs/labels/service_name/values', {
    every: 60_000,
  });
  return (
    <>
      <Head title={text.title} />
      <div class="filters">
        <select
          aria-label={text.of}
          value={serviceOf(q) ?? ''}
          onChange={(event) => setQ(withService(q, event.currentTarget.value))}
        >
          <option value="">{text.any}</option>
          {services.value?.data.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <Typed
          type="search"
          aria-label={text.search}
          placeholder={text.search}
          value={wordOf(q)}
          onChoose={(word) => setQ(withWord(q, word))}
        />
      </div>
      <QueryField
        language="logql"
        label={text.query}
        value={q}
        onRun={setQ}
        error={error?.message}
      />
      <LogLines query={q} onError={setError} />
    </>
  );
}

const serviceOf = (query: string): string | undefined =>
  /service_name="([^"\\]*)"/.exec(query)?.[1];
const wordOf = (query: string): string => /\|= "([^"\\]*)"/.exec(query)?.[1] ?? '';

function withService(query: string, service: string): string {
  const rest = /^\{[^}]*\}(.*)$/s.exec(query)?.[1] ?? '';
  return `${service === '' ? everything : `{service_name=${JSON.stringify(service)}}`}${rest}`;
}

function withWord(query: string, word: string): string {
  const without = query.replace(/\s*\|= "[^"\\]*"/, '');
  const [, selector = everything, rest = ''] = /^(\{[^}]*\})(.*)$/s.exec(without) ?? [];
  return word === '' ? without : `${selector} |= ${JSON.stringify(word)}${rest}`;
}
