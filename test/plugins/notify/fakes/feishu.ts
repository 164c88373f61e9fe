import { createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';

import { isJson, json, only, type Platform, startPlatform } from './platform.ts';

export const feishuPath = '/open-apis/bot/v2/hook/0c0ffee0-secret-hook';

/** Verifies the signature where it has a secret; answers 200 also when it refuses. */
export const startFeishu = (
  t: Pick<TestContext, 'after'>,
  clock: { now(): number },
  secret?: string,
): Promise<Platform> =>
  startPlatform(t, (request) => {
    const refused = (code: number, msg: string) => ({
      ...json({ code, msg, data: {} }),
      taken: false,
    });
    if (request.url.pathname !== feishuPath) {
      return refused(19001, 'param invalid: incoming webhook access token invalid');
    }
    if (Buffer.byteLength(request.text) > 20 * 1024) {
      return refused(9499, 'Bad Request: body too large');
    }
    const { timestamp, sign, msg_type: type, card } = request.body ?? {};
    if (
      !isJson(request) ||
      !only(request.body, 'timestamp', 'sign', 'msg_type', 'card') ||
      type !== 'interactive'
    ) {
      return refused(9499, 'Bad Request');
    }
    if (secret !== undefined) {
      const good = createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64');
      if (
        typeof timestamp !== 'string' ||
        sign !== good ||
        Math.abs(Number(timestamp) * 1000 - clock.now()) > 3_600_000
      ) {
        return refused(
          19021,
          'sign match fail or timestamp is not within one hour from current time',
        );
      }
    }
    const { header, elements = [] } = card ?? {};
    const plain = [
      header?.title,
      ...elements.flatMap(
        ({ text, actions = [] }: { text?: object; actions?: { text: object }[] }) => [
          ...(text ? [text] : []),
          ...actions.map((one) => one.text),
        ],
      ),
    ];
    const known =
      ['red', 'orange', 'blue', 'green'].includes(header?.template) &&
      elements.every(({ tag }: { tag: string }) => tag === 'div' || tag === 'action');
    if (
      !known ||
      elements.length === 0 ||
      plain.some((text) => text?.tag !== 'plain_text' || typeof text.content !== 'string')
    ) {
      return refused(9499, 'Bad Request: card');
    }
    return { ...json({ code: 0, msg: 'success', data: {} }), taken: true };
  });
