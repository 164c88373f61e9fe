import { createHash, createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';

import { isJson, json, only, type Platform, startPlatform } from './platform.ts';

const refused = (errcode: number, errmsg: string) => ({
  ...json({ errcode, errmsg }),
  taken: false,
});
const taken = { ...json({ errcode: 0, errmsg: 'ok' }), taken: true };

/** Twenty messages in a minute; past that none for ten minutes. */
function gatekeeper(clock: { now(): number }, blockMs: number) {
  const times: number[] = [];
  let closedUntil = -Infinity;
  return (): boolean => {
    const now = clock.now();
    times.push(now);
    if (times.filter((at) => at > now - 60_000).length > 20) {
      closedUntil = now + blockMs;
    }
    return now >= closedUntil;
  };
}

export const dingtalkPath = '/robot/send?access_token=s3cr3tdingtalktoken';

export const startDingtalk = (
  t: Pick<TestContext, 'after'>,
  clock: { now(): number },
  secret?: string,
): Promise<Platform> => {
  const open = gatekeeper(clock, 600_000);
  return startPlatform(t, (request) => {
    const { searchParams } = request.url;
    if (
      request.url.pathname !== '/robot/send' ||
      searchParams.get('access_token') !== 's3cr3tdingtalktoken'
    ) {
      return refused(300001, 'token is not exist');
    }
    if (secret !== undefined) {
      const at = searchParams.get('timestamp') ?? '';
      const good = createHmac('sha256', secret).update(`${at}\n${secret}`).digest('base64');
      if (searchParams.get('sign') !== good || Math.abs(Number(at) - clock.now()) > 3_600_000) {
        return refused(310000, 'sign not match');
      }
    }
    const { msgtype, actionCard: card } = request.body ?? {};
    if (
      !isJson(request) ||
      !only(request.body, 'msgtype', 'actionCard') ||
      msgtype !== 'actionCard' ||
      !(
        only(card, 'title', 'text', 'singleTitle', 'singleURL') ||
        only(card, 'title', 'text', 'btnOrientation', 'btns')
      )
    ) {
      return refused(400003, 'invalid message');
    }
    // One button for all of it, or several.
    const buttons = (card.btns ?? [
      { title: card.singleTitle, actionURL: card.singleURL },
    ]) as readonly { title: string; actionURL: string }[];
    const texts = [card.title, card.text, ...buttons.map(({ title }) => title)];
    if (
      buttons.length === 0 ||
      buttons.some(({ actionURL }) => !URL.canParse(actionURL)) ||
      texts.some((text) => typeof text !== 'string' || text === '')
    ) {
      return refused(400003, 'invalid message');
    }
    if (Buffer.byteLength(request.text) > 20_000) {
      return refused(400004, 'message is too long');
    }
    return open() ? taken : refused(410100, 'send too fast');
  });
};

export const wecomPath = '/cgi-bin/webhook/send?key=s3cr3t-wecom-key';

export const startWecom = (
  t: Pick<TestContext, 'after'>,
  clock: { now(): number },
): Promise<Platform> => {
  const open = gatekeeper(clock, 60_000);
  return startPlatform(t, (request) => {
    if (
      request.url.pathname !== '/cgi-bin/webhook/send' ||
      request.url.searchParams.get('key') !== 's3cr3t-wecom-key'
    ) {
      return refused(93000, 'invalid webhook url');
    }
    const { msgtype, markdown, image } = request.body ?? {};
    if (
      isJson(request) &&
      msgtype === 'image' &&
      only(request.body, 'msgtype', 'image') &&
      only(image, 'base64', 'md5')
    ) {
      const bytes = Buffer.from(image.base64, 'base64');
      const isPicture =
        bytes.subarray(1, 4).toString('latin1') === 'PNG' &&
        bytes.toString('base64') === image.base64;
      if (!isPicture || bytes.length > 2 * 1024 * 1024) {
        return refused(40009, 'invalid image size');
      }
      if (createHash('md5').update(bytes).digest('hex') !== image.md5) {
        return refused(301019, 'media file md5 not match');
      }
      return open() ? taken : refused(45009, 'api freq out of limit');
    }
    if (
      !isJson(request) ||
      !only(request.body, 'msgtype', 'markdown') ||
      msgtype !== 'markdown' ||
      !only(markdown, 'content')
    ) {
      return refused(40008, 'invalid message type');
    }
    if (Buffer.byteLength(markdown.content) > 4_096) {
      return refused(40058, 'markdown.content exceed max length 4096');
    }
    return open() ? taken : refused(45009, 'api freq out of limit');
  });
};
