import type { TestContext } from 'node:test';

import { isJson, only, type Platform, startPlatform } from './platform.ts';

export const startSlack = (t: Pick<TestContext, 'after'>): Promise<Platform> =>
  startPlatform(t, (request) => {
    if (request.url.pathname !== '/services/T000/B000/s3cr3t-hook-path') {
      return { status: 404, body: 'no_service', taken: false };
    }
    if (
      !isJson(request) ||
      !only(request.body, 'text', 'attachments', 'link_names', 'unfurl_links', 'unfurl_media') ||
      typeof request.body.text !== 'string'
    ) {
      return { status: 400, body: 'invalid_payload', taken: false };
    }
    if (request.body.text === '') {
      return { status: 400, body: 'no_text', taken: false };
    }
    // Whatever stands in pointed brackets is a link or a call to people; a bare one is a mistake of the sender.
    const [card] = request.body.attachments ?? [];
    const blocks = (card?.blocks ?? []) as readonly {
      type: string;
      text?: { type: string; text: string };
      elements?: readonly { type: string; url: string }[];
    }[];
    const texts = [
      request.body.text,
      ...blocks.flatMap(({ text }) => (text === undefined ? [] : [text.text])),
    ] as string[];
    if (
      texts.some(
        (text) => text === '' || text.length > 3_000 || /[<>]|&(?!amp;|lt;|gt;)/.test(text),
      ) ||
      !/^#[0-9a-f]{6}$/.test(card?.color) ||
      blocks.length === 0
    ) {
      return { status: 400, body: 'invalid_payload', taken: false };
    }
    if (
      blocks.some(
        ({ type, elements = [] }) =>
          !['section', 'actions'].includes(type) ||
          elements.some((one) => one.type !== 'button' || !URL.canParse(one.url)),
      )
    ) {
      return { status: 400, body: 'invalid_blocks', taken: false };
    }
    return { status: 200, body: 'ok', taken: true };
  });

export const slackPath = '/services/T000/B000/s3cr3t-hook-path';
