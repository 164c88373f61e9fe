import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import { startTestHost, type TestHostOptions } from 'svc/testing';

export async function topologyHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
) {
  const house = await startTestHost(t, { plugins: ['topology'], ...options });
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await house.fetch(`/api/v1/topology${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      etag: answer.headers.get('etag') ?? '',
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const made = async (path: string, body: object): Promise<number> => {
    const answer = await ask('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body.id;
  };
  const node = (name: string, type = 'app', rest: object = {}) =>
    made('/nodes', { type, name, ...rest });
  const relation = (src: number, type: string, dst: number) =>
    made('/relations', { type, src_id: src, dst_id: dst });
  return { house, ask, node, relation };
}
