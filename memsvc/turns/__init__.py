"""Agent turns: what was asked, what was done to which documents, what came out, and past work for what is asked now.

Turns come in through ``storing`` and are found through ``past``. ``documents``, ``projects``, ``secrets``, ``results``
and ``chat_turns`` are pure: they know neither a database nor the service, and clients use them, too.
"""
