import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Entities } from '../../../plugins/investigate/discovery/entities.ts';
import { attributeSplits } from '../../../plugins/investigate/discovery/separating-attributes.ts';
import type { Span } from '../../../plugins/investigate/fetch/trace-source.ts';

let traces = 0;
/** A request to the shop that calls the cart. */
function request(failed: boolean, attributes: Readonly<Record<string, string>>): Span[] {
  const trace = String((traces += 1));
  const span = (service: string, id: string, parent: string): Span => ({
    trace,
    span: id,
    parent,
    service,
    name: 'GET',
    start: 0,
    ms: 1,
    failed,
    device: '',
    attributes: service === 'cart' ? { ...attributes, region: 'eu' } : { route: `/${trace}` },
  });
  return [span('shop', 'a', ''), span('cart', 'b', 'a')];
}

const many = (count: number, make: (at: number) => Span[]): Span[] =>
  Array.from({ length: count }, (_, at) => make(at)).flat();

test('the value that only failing requests have is told, with the host that it names, and no other', () => {
  const entities = new Entities();
  entities.know({ id: 'host:node-2', kind: 'host', name: 'node-2' });
  const hosts = ['node-1', 'node-2', 'node-3'];
  const failing = many(20, () => request(true, { 'host.name': 'node-2', tenant: 'acme' }));
  const fine = many(40, (at) =>
    request(false, { 'host.name': hosts[(at % 2) * 2]!, tenant: ['acme', 'umbrella'][at % 2]! }),
  );
  const asked = (spans: readonly Span[]) => ({ id: 'E1', value: { spans } });
  assert.deepEqual(attributeSplits([asked(failing), asked(fine)], entities), [
    {
      evidence: 'E1',
      node: 'service:cart',
      key: 'host.name',
      value: 'node-2',
      failing: 20,
      of_failing: 20,
      others: 0,
      of_others: 40,
      place: 'host:node-2',
    },
  ]);
  assert.deepEqual(
    attributeSplits([asked(many(20, () => request(true, { v: '1' }))), asked([])], entities),
    [],
  );
  assert.deepEqual(
    attributeSplits([undefined, asked(many(20, (at) => request(at % 2 === 0, {})))], entities),
    [],
  );
});
