"""What people look at: a certificate as a self-contained HTML report and as a section of a model card."""

from votecert.report.markdown import to_markdown
from votecert.report.page import monitor_page, to_html

__all__ = ["monitor_page", "to_html", "to_markdown"]
