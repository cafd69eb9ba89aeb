"""The protected server: sessions over HTTP for examinees who are not trusted."""
