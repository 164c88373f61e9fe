import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-dingtalk', {
  invalid_app: ['invalid_argument', 'app_id {message}'],
  no_stream: ['upstream_error', 'Failed to open a stream to DingTalk: {reason}'],
});
