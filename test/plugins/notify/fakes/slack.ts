import type { TestContext } from 'node:test';

import { isJson, only, type Platform, startPlatform } from './platform.ts';

export const startSlack = (t: Pick<TestContext, 'after'>): Promise<Platform> =>
  startPlatform(t, (request) => {
    if (request.url.pathname !== '/services/T000/B000/s3cr3t-hook-path') {
      return { status: 404, body: 'no_service', taken: false };
    }
    if (!isJson(request) || !only(request.body, 'text', 'link_names', 'unfurl_links', 'unfurl_media') || typeof request.body.text !== 'string') {
      return { status: 400, body: 'invalid_payload', taken: false };
    }
    if (request.body.text === '') {
      return { status: 400, body: 'no_text', taken: false };
    }
    // Whatever stands in pointed brackets is a link or a call to people; a bare one is a mistake of the sender.
    if (request.body.text.length > 40_000 || /[<>]|&(?!amp;|lt;|gt;)/.test(request.body.text)) {
      return { status: 400, body: 'invalid_payload', taken: false };
    }
    return { status: 200, body: 'ok', taken: true };
  });

export const slackPath = '/services/T000/B000/s3cr3t-hook-path';
