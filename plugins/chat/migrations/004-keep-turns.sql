-- What the provider of an answer wants back with it, such as signed thoughts: JSON, for the model that made it alone.
ALTER TABLE chat_messages ADD COLUMN kept TEXT;
