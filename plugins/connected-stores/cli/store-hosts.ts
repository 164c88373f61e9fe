import { type Command, clientOptions, openClient } from 'svc/cli';

import { type PreviewAnswer, previewText } from './preview-text.ts';

export const command: Command = {
  operands: ['<name>'],
  options: { ...clientOptions },
  about:
    'Queries the store now and shows its hosts, the label that identifies each host, and the series without a host label.',
  example: 'svc store hosts prod',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const name = encodeURIComponent(call.operand(0));
    const preview = await client.post<PreviewAnswer>(
      `/api/v1/connected-stores/${name}/preview`,
      {},
      90_000,
    );
    return {
      data: preview,
      text: () => previewText(preview),
      ...(!preview.test.ok && { code: 1 }),
    };
  },
};
