-- Reading is an action of its own from here on, as read:device or read:* for all; tokens from before go on reading what they read.
UPDATE session_api_tokens
SET actions = CASE actions WHEN '[]' THEN '["read:*"]' ELSE substr(actions, 1, length(actions) - 1) || ',"read:*"]' END
WHERE actions NOT LIKE '%"*"%';
